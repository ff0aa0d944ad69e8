//! Files that only their owner may read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Warns where others can read a file that holds secrets.
pub(crate) fn warn_if_shared(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if let Ok(metadata) = fs::metadata(path)
            && metadata.permissions().mode() & 0o077 != 0
        {
            let file = path.display();
            tracing::warn!(%file, "others on this machine can read this file of secrets; `chmod 600` it");
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// A new file that only its owner may read. One that is there already is not touched.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A file that only its owner may read, as far as it has come. It goes when it is dropped.
pub(crate) struct Partial {
    path: PathBuf,
    pub(crate) file: File,
}

impl Partial {
    /// What is to become the file of this name.
    pub(crate) fn of(whole: &Path) -> io::Result<Partial> {
        let mut path = whole.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        let file = create(&path)?;
        Ok(Partial { path, file })
    }

    /// All of it has come: it gets its name when it is on disk.
    pub(crate) fn complete(self, whole: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        // Unlike a rename, a link does not replace a file that came meanwhile.
        fs::hard_link(&self.path, whole)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // If it stays, it says what it is.
        drop(fs::remove_file(&self.path));
    }
}
