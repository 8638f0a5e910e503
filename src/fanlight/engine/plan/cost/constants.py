"""The cost model's table: what each step takes, in nanoseconds of one core.

Only ratios mean anything. ``python -m benchmarks --calibrate`` measures what it can anew, prints it
beside the numbers here, and names those that it does not measure. With ``--write`` it writes what
it measured into this table, divided by the factor that most have in common, so that the others keep
their ratio to it. Behind each number stands where it is from:

- ``fitted``: by that command;
- ``measured``: by the benchmark that is named, as times of forced strategies;
- ``estimated``: by hand, from times that were not kept as a regression. The page that is named says
  what the technique does, and what it was held against.

What formulas use as a constant is in this table alone. Names and comments are written by hand.
"""

# Rows on their way into slices and windows.

# A row out of its source, whatever is done with it.
READ = 60.0  # fitted
# a of the paper: a row into its slice, or into the first of its windows.
ROW = 45.0  # fitted
# a' of the paper: each further copy of a row into a window.
EXPANDED_ROW = 60.0  # fitted
# What a row or a copy takes in addition if its group is rarely in the cache.
SPREAD = 400.0  # estimated: experiments/panes/choices.md
# A row into the struct that Spark makes of its window.
WINDOW = 25.0  # estimated: docs/decisions/0043-little-data.md
# One of the two entries of an event that lasts into its group.
ENTRY = 70.0  # estimated: docs/spanning.md
# An event that lasts into its cell: cells are many, and seldom in the cache.
CELL = 130.0  # estimated: docs/spanning.md

# Partials through the shuffle, and into windows.

# b of the paper: a partial of a slice, an entry or a cell through the shuffle.
PARTIAL = 860.0  # fitted
# A slice or an entry in the roll-up: shuffled, sorted, and gaps looked for.
FILL = 580.0  # fitted
# c of the paper: a partial into a window, scanned again for each window.
ENTER = 20.0  # fitted
# A partial that Spark combines one by one, since its aggregate has no running form.
COLLECTED = 100.0  # fitted
# A running total less the one a RANGE before.
DIFFERENCE = 350.0  # fitted
# Suffix, prefix, look-up: a pass each over the slices of two stacks.
TWO_STACKS = 300.0  # fitted
# A partial copied into one of its windows, hashed again.
COPY = 60.0  # fitted
# The partial of a cell, or of an entry without a running form, into its dyadic intervals.
DYADIC = 900.0  # estimated: docs/spanning.md
# A result put beside those of aggregates that are computed apart.
JOINED = 2_000.0  # estimated: docs/decisions/0040-distinct-values-last.md

# Aggregates that need every value.

# A row or a count into the hash table of its value.
COUNTED = 2_400.0  # estimated: docs/decisions/0005-value-counts.md
# A row whose value Spark keeps for an aggregate of all values.
KEPT = 1_500.0  # estimated: docs/decisions/0005-value-counts.md
# A sketch made, or read into another one.
SKETCH = 1_000.0  # estimated: docs/decisions/0043-little-data.md
# A row into a sketch, which Spark groups through a sort.
SKETCHED = 750.0  # measured: --only never-slower
# What such a row takes in addition, of what the sketch itself takes.
SKETCHED_SHARE = 0.1  # estimated: docs/decisions/0043-little-data.md
# A row into a sketch of Spark's own whose registers a hash map holds.
REGISTERED = 70.0  # measured: --only never-slower
# A byte that a sketch has room for, whether there are values for it or not.
SKETCH_BYTE = 0.5  # estimated: docs/decisions/0043-little-data.md
# A value of a slice beside that of the next slice, and the ends of what lasts.
LIFETIME = 1_000.0  # estimated: docs/decisions/0040-distinct-values-last.md
# A row ranked, sorted again, through Python, into a count and out of it.
RANKED = 2_600.0  # estimated: docs/decisions/0041-ranks.md
# A window's results read off ranks, and back from Python.
READ_OFF = 700.0  # estimated: docs/decisions/0041-ranks.md

# Rows in order.

# A row shuffled by its key, and sorted.
SORTED = 460.0  # measured: --only frames
# A row through Arrow and a compiled loop.
PASSED = 100.0  # measured: --only frames
# A row through a loop in Python.
CALLED = 2_000.0  # measured: --only frames
# A row out of Python again with the number of its frame, and into its group.
RETURNED = 150.0  # measured: --only frames
# A row compared with its neighbours in Spark SQL, counted, and into its group.
COMPARED = 280.0  # measured: --only frames
# How many times that takes in all if rows are divided by ranges of time, for which Spark reads a
# sample of them first.
DIVIDED = 1.4  # measured: --only hot-key
# A row added to one partial of a trailing window by Spark, which does so for each window anew.
FOLDED = 5.0  # estimated: docs/trailing.md

# Stateful operators in Python, and the state of streams.

# An event into a Python operator.
PYTHON_ROW = 12_000.0  # estimated: docs/spanning.md
# Two partials combined in Python.
PYTHON_STEP = 900.0  # estimated: docs/spanning.md
# A group in a stream's state store, once a micro-batch.
STATE = 9_000.0  # estimated: docs/spanning.md

# Once a query, however little there is to do.

# A further shuffle.
STEP = 150_000_000.0  # estimated: docs/decisions/0043-little-data.md
# A plan of more steps than Spark's own windows, analysed and optimized.
MADE = 25_000_000.0  # estimated: docs/decisions/0043-little-data.md
# Python workers, and their first rows: between what they take if they run already, and if not.
STARTED = 500_000_000.0  # estimated: docs/decisions/0043-little-data.md

# What is counted, not timed.

# With so many groups written to at a time, hardly any is in the cache.
CACHED = 262_144.0  # estimated: experiments/panes/choices.md
# What is done a key at a time keeps fewer cores busy than these, if keys are fewer.
TASKS = 4.0  # estimated: docs/decisions/0041-ranks.md
# Cores that one task keeps busy if rows go through Python: that of Spark, and that of the worker.
BUSY = 2.0  # measured: --only hot-key
# Distinct values a row, which nobody knows.
DISTINCT = 0.5  # estimated: docs/decisions/0040-distinct-values-last.md
# Orders of dyadic intervals in which a window begins ranges, or ends them.
ORDERS = 4.0  # estimated: docs/spanning.md
# Rows of a batch, for what pays with more of them alone, if nobody knows how many there are.
MILLION = 1_000_000.0  # estimated: docs/decisions/0009-told-not-looked-up.md
# Rows a SLIDE, if no rate is given.
ROWS = 10_000.0  # estimated: docs/decisions/0009-told-not-looked-up.md
# SLIDEs of a batch of events, if Spark estimates their number: weeks in quarters of an hour.
SLIDES = 2_500.0  # estimated: docs/decisions/0043-little-data.md
# Rows a RANGE and key where every row ends a window, if no rate is given.
ROWS_OF_KEY = 100.0  # estimated: docs/decisions/0009-told-not-looked-up.md
# Keys, if their number is not given.
KEYS = 100.0  # estimated: docs/decisions/0009-told-not-looked-up.md
