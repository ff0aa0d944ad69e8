//! Which transaction was acknowledged last, in a small file beside the store.
//!
//! Every transaction that changes something has a number, written with it. Once it is synced, and before anybody hears of
//! it, its number goes to the file `STORE.commits`, unsynced: that costs a microsecond, and survives the process. After a
//! crash of the machine the file may lag behind the store, which is harmless; it never leads, for it is written after. So a
//! store whose own number is smaller has lost what was acknowledged: its log was cut short or damaged, or an older copy was
//! put in its place. SQLite would go on without a word.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction};

use crate::Error;
use crate::sqlite::private;

const MAGIC: &[u8; 8] = b"abidecmt";
const STORE: usize = 16;
/// Magic, number, store, checksum.
const LENGTH: usize = 8 + 8 + STORE + 4;

/// Which store, and how many transactions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) number: u64,
    pub(super) store: [u8; STORE],
}

impl Count {
    /// What the store says itself.
    pub(super) fn of(connection: &Connection) -> Result<Count, Error> {
        let sql = "SELECT number, store FROM commit_number WHERE one = 1";
        let (number, store): (i64, [u8; STORE]) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let number = u64::try_from(number).map_err(|_| Error::Corrupt("a negative commit".to_owned()))?;
        Ok(Count { number, store })
    }

    fn written(&self) -> [u8; LENGTH] {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend(MAGIC);
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.store);
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.try_into().expect("the parts are as long as the whole")
    }

    fn read(bytes: &[u8]) -> Option<Count> {
        let (content, sum) = bytes.split_last_chunk::<4>()?;
        let rest = content.strip_prefix(MAGIC)?;
        let (number, store) = rest.split_first_chunk::<8>()?;
        let is_whole = crc32fast::hash(content).to_be_bytes() == *sum;
        let count = Count { number: u64::from_be_bytes(*number), store: store.try_into().ok()? };
        is_whole.then_some(count)
    }
}

/// The next number, in a transaction that changes something.
pub(super) fn next(transaction: &Transaction<'_>) -> Result<Count, Error> {
    let mut statement = transaction.prepare_cached(
        "UPDATE commit_number SET number = number + 1 WHERE one = 1 RETURNING number, store",
    )?;
    let (number, store): (i64, [u8; STORE]) =
        statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Count { number: number.cast_unsigned(), store })
}

pub(super) fn path_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".commits");
    PathBuf::from(name)
}

/// What the file beside a store says; nothing if there is none, or if it cannot be read: then it says nothing about the
/// store, and the store is believed.
pub(super) fn last(store: &Path) -> Option<Count> {
    Count::read(&fs::read(path_of(store)).ok()?)
}

/// Where what is acknowledged is noted.
#[derive(Debug)]
pub(super) struct Acknowledged(File);

impl Acknowledged {
    pub(super) fn open(store: &Path, now: Count) -> io::Result<Acknowledged> {
        let file = private::options().create(true).truncate(false).open(path_of(store))?;
        file.set_len(LENGTH as u64)?;
        let noted = Acknowledged(file);
        noted.note(now);
        Ok(noted)
    }

    /// If it cannot be written, it lags.
    pub(super) fn note(&self, count: Count) {
        let _ = self.0.write_all_at(&count.written(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_with_any_bit_flipped_says_nothing() {
        let count = Count { number: 1_204, store: [7; STORE] };
        let written = count.written();
        assert_eq!(Count::read(&written), Some(count));
        for bit in 0..written.len() * 8 {
            let mut flipped = written;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Count::read(&flipped), None, "bit {bit}");
        }
        assert_eq!(Count::read(&written[..LENGTH - 1]), None);
        assert_eq!(Count::read(&[]), None);
    }
}
