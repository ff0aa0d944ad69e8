//! That there is one writer. Two locks say so: one on a file beside the store, which is there before the store is, and one
//! on the store itself, by whatever name it is reached. The first is found by path, so a hard link would get another, and it
//! can be removed; the second goes with the file's inode.
//!
//! Closing any handle of a file lets go of the locks that SQLite holds on it in this process. So the handle here is closed
//! after all connections of its store, and where this process has the store already, it is not opened a second time.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;
use crate::sqlite::open::unusable;
use crate::sqlite::private;

/// The files that this process writes to.
static OURS: Mutex<Option<HashSet<Inode>>> = Mutex::new(None);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Inode> {
        use std::os::unix::fs::MetadataExt;
        let file = fs::metadata(path).ok()?;
        Some(Inode { device: file.dev(), number: file.ino() })
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Inode> {
        None
    }
}

/// Nobody else writes while this is held.
#[derive(Debug)]
pub(crate) struct Lock {
    inode: Option<Inode>,
    // Closed in this order; both stay behind, what counts are the locks.
    _itself: Option<File>,
    _beside: File,
}

impl Lock {
    /// Makes the file if there is none.
    pub(crate) fn take(path: &Path) -> Result<Lock, Error> {
        let denied = |error: std::io::Error| {
            unusable(path, error.to_string(), "check that its directory exists and can be written to")
        };
        let taken = |error: TryLockError| match error {
            TryLockError::WouldBlock => Error::InUse(path.display().to_string()),
            TryLockError::Error(error) => denied(error),
        };
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let beside = private::options().create(true).truncate(false).open(PathBuf::from(name));
        let beside = beside.map_err(denied)?;
        beside.try_lock().map_err(taken)?;
        if path.is_dir() {
            return Err(denied(std::io::ErrorKind::IsADirectory.into()));
        }
        if !path.exists() {
            private::options().create(true).truncate(false).open(path).map_err(denied)?;
        }
        let inode = Inode::of(path);
        let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = ours.get_or_insert_default();
        if inode.is_some_and(|inode| !ours.insert(inode)) {
            return Err(Error::InUse(path.display().to_string()));
        }
        let mut lock = Lock { inode, _itself: None, _beside: beside };
        let locked = lock_itself(path).map_err(taken);
        match locked {
            Ok(itself) => lock._itself = itself,
            Err(error) => {
                // The guard is held here, so it is not let go of by the drop.
                lock.inode = None;
                ours.retain(|one| Some(*one) != inode);
                return Err(error);
            }
        }
        Ok(lock)
    }
}

/// A file that cannot be written to is refused by whoever writes, with a reason.
fn lock_itself(path: &Path) -> Result<Option<File>, TryLockError> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let Ok(file) = File::options().read(true).open(path) else { return Ok(None) };
    file.try_lock().map(|()| Some(file))
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(inode) = self.inode {
            let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
            ours.get_or_insert_default().remove(&inode);
        }
    }
}

/// Whether this process writes to a file.
pub(super) fn is_ours(path: &Path) -> bool {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    Inode::of(path).is_some_and(|inode| ours.as_ref().is_some_and(|ours| ours.contains(&inode)))
}
