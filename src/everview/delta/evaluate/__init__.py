"""Expressions over columns: every function of `expr.FUNCTIONS`, as Spark SQL computes it (ANSI on).

    evaluate   an Expr over named Vectors -> a Vector          matches   the rows where it is TRUE

    walk      the expression, top down; who is evaluated on which rows; the table of functions
    ├─ number   + - * / %, exact by way of `exact` (scaled integers with known bounds)
    ├─ compare  = < in ..., with numbers of any two types
    ├─ text     on the pool, once per distinct text
    ├─ dates    calendar fields and steps, by `zones`
    └─ cast     with `parse` (text -> value) and `form` (value -> text)
    term      what they compute on: a Vector with bounds; a constant is one of length 1
    faults    what a failing row says, and which expressions may fail at all

Not here: names and coercions of arguments (sql), aggregates (operators/group).
"""

from everview.delta.evaluate.walk import evaluate, matches

__all__ = ["evaluate", "matches"]
