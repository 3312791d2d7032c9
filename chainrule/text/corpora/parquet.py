"""Parquet files through DuckDB: a column of texts, of which only some are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.corpora.records import Record, documents_of, no_field
from chainrule.text.options import TextOptions

BATCH, VECTOR = 256, 2048  # rows that we ask for at a time, and that DuckDB has in memory


def read_parquet(path: Path, options: TextOptions, size: int) -> Iterator[Chunk]:
    """The text of each row is a document."""
    return documents_of(_column(path, options), path, options, size)


def _column(path: Path, options: TextOptions) -> Iterator[Record]:
    try:
        import duckdb
    except ImportError:
        raise DataError(f"{path}: Parquet is read by DuckDB. Install it with: pip install 'chainrule[scale]'") from None
    try:
        with duckdb.connect() as database:
            database.execute("SET threads = 1")  # rows in their order, and one row group in memory
            database.execute(f"SET memory_limit = '{_memory(options)}MiB'")
            columns = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            kinds = {column[0]: column[1] for column in columns}
            if options.field not in kinds:
                raise DataError(f"{path}: {no_field(options.field, list(kinds))}")
            quoted = '"' + options.field.replace('"', '""') + '"'
            at_once = _rows_at_once(database, path, quoted, options) if kinds[options.field] == "VARCHAR" else BATCH
            rows = database.execute(f"SELECT {quoted} FROM read_parquet(?)", [str(path)])
            number = 1
            while batch := rows.fetchmany(at_once):
                yield from ((number + i, row[0]) for i, row in enumerate(batch))
                number += len(batch)
    except duckdb.OutOfMemoryException:
        raise _no_memory(path, options) from None
    except duckdb.Error as error:
        raise DataError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]}).") from None


def _rows_at_once(database: Any, path: Path, column: str, options: TextOptions) -> int:
    """How many texts may be taken into memory together: some kilobytes of Parquet can hold texts of gigabytes."""
    sizes = (f"SELECT max(strlen({column})) AS longest, sum(strlen({column})) AS together "
             f"FROM read_parquet(?, file_row_number = true) GROUP BY file_row_number // {VECTOR}")
    longest, together = database.execute(f"SELECT max(longest), max(together) FROM ({sizes})", [str(path)]).fetchone()
    if (longest or 0) > options.longest_line << 20:
        raise DataError(f"{path}: a text of {longest:,} bytes in the field {options.field!r}, expected at most "
                        f"{options.longest_line} MiB. Or set text.longest_line={(longest >> 20) + 1}, if there is "
                        "memory for it.")
    if (together or 0) > _memory(options) << 20:
        raise _no_memory(path, options)
    return max(1, min(BATCH, (options.longest_line << 20) // max(1, longest or 0)))


def _memory(options: TextOptions) -> int:
    """MiB that rows of a Parquet file may take together."""
    return max(2048, 32 * options.longest_line)


def _no_memory(path: Path, options: TextOptions) -> DataError:
    return DataError(f"{path}: rows that are read together do not fit into {_memory(options):,} MiB. Set "
                     f"text.longest_line={_memory(options) // 16}, if there is memory for them.")
