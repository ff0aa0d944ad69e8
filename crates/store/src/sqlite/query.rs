//! What a query found.

use rusqlite::Row;

use crate::Error;

/// Collects what a query found.
pub(super) fn collect<T>(
    mut rows: rusqlite::Rows<'_>,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first of what a query found. All of it is read, because a statement that writes is only done at its end.
pub(super) fn first<T>(
    rows: rusqlite::Rows<'_>,
    read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    Ok(collect(rows, read)?.into_iter().next())
}
