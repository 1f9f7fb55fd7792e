"""The size table: it counts, and it fails for what is too long or needlessly allowed."""

from __future__ import annotations

from scripts import sizes


def test_counts_and_table(tmp_path):
    (tmp_path / "sql").mkdir()
    (tmp_path / "cli.py").write_text("a\nb\n")
    (tmp_path / "sql" / "ddl.py").write_text("a\n" * 5)
    counts = sizes.lines(tmp_path)
    assert counts == {"cli.py": 2, "sql/ddl.py": 5}
    rows = sizes.table(counts).splitlines()
    assert [row.split()[0] for row in rows] == ["folder", "(top)", "sql", "all"]
    assert rows[-1].split() == ["all", "2", "7"]


def test_faults():
    counts = {"a.py": sizes.MOST, "b.py": sizes.MOST + 1, "c.py": sizes.MOST + 9}
    assert sizes.faults(counts, {"c.py": "one table"}) == [
        f"b.py has {sizes.MOST + 1} lines, more than {sizes.MOST}: cut it where it has two subjects"
    ]
    stale = sizes.faults({"a.py": 3}, {"a.py": "was long", "z.py": "was there"})
    assert [f.rpartition(" ")[2] for f in stale] == ["short", "gone"]
