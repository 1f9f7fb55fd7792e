"""A dataflow on Spark Structured Streaming: one streaming query per view."""
