//! The first hundred bytes of a file, looked at before SQLite does: they say whether its pages have checksums, and SQLite
//! takes a file that was cut within its first page for a new one.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The VFS that checks the checksum on each page as it is read.
pub(super) const VFS: &str = "cksmvfs";
/// Bytes at the end of each page that hold its checksum.
const CHECKSUM_BYTES: u8 = 8;
/// From this version of the schema on, every file has checksums.
const FIRST_WITH_CHECKSUMS: u32 = 9;
/// "abid": says that a file is ours.
pub(super) const APPLICATION_ID: i32 = 0x6162_6964;
/// "ABID": says that a file is ours, and that its pages have no checksums because somebody wanted it so. Four bits away from the
/// other, so that no flipped bit makes one of the other.
pub(super) const UNCHECKED_ID: i32 = 0x4142_4944;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;

/// What can be told of a file before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// There is nothing in it, or no file at all.
    New,
    /// Not of SQLite; it says so itself.
    Foreign,
    /// Cut within its first page.
    Cut,
    /// The file says that its pages have no checksums, though all files of its version have.
    WithoutChecksums,
    /// The file was made without checksums on its pages, because something else than us writes pages, too.
    Unchecked,
    /// Of a version that had none.
    Old,
    Sound,
}

impl Header {
    pub(super) fn of(path: &Path) -> Header {
        let Ok(length) = fs::metadata(path).map(|file| file.len()) else { return Header::New };
        if length == 0 {
            return Header::New;
        }
        let mut bytes = Vec::with_capacity(HEADER);
        let read = File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut bytes));
        // Whoever opens it hears why it cannot be read.
        if read.is_err() {
            return Header::Foreign;
        }
        Header::read(&bytes, length)
    }

    fn read(bytes: &[u8], length: u64) -> Header {
        if bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) {
            return Header::Cut;
        }
        if !bytes.starts_with(MAGIC) {
            return Header::Foreign;
        }
        let Some(header) = bytes.first_chunk::<HEADER>() else { return Header::Cut };
        let page = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => u64::from(size),
        };
        let version = u32::from_be_bytes([header[60], header[61], header[62], header[63]]);
        let application = i32::from_be_bytes([header[68], header[69], header[70], header[71]]);
        if length < page {
            Header::Cut
        } else if application == UNCHECKED_ID {
            Header::Unchecked
        } else if header[20] == CHECKSUM_BYTES {
            Header::Sound
        } else if version < FIRST_WITH_CHECKSUMS {
            Header::Old
        } else {
            Header::WithoutChecksums
        }
    }
}
