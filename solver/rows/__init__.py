"""The row-parallel solver of Lasker Morris: rows as bitmaps, all columns of a row at once.

Read in this order: `geometry` (rows and the links between them), `planes` and `words` (what is
computed on), `column_moves`, `permute`, `captures` (moves as bitmap operations), `dense` (rounds
over whole rows), `sparse` (rounds over single changes), `rounds` and `level` (one level to its
fixpoint), `sections` and `unit` (levels to and from table files), `twin` (levels taken over from
other rules).
"""
