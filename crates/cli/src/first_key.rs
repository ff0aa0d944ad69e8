//! The first key of a store that has none. It goes to a file that only its owner may read: what is written to the standard
//! output stays in the logs of containers for as long as those do.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use abide_engine::Engine;

use crate::place::Place;
use crate::private;

/// Beside a store's file; for a database, in the directory that the server was started in.
const ENDING: &str = ".admin-key";
const OF_A_DATABASE: &str = "abide";

/// Where the first key is.
pub(crate) enum FirstKey {
    InFile(PathBuf),
    /// No file could be written, and without the key nobody could do anything.
    Shown(String),
}

/// Makes the first key, where there is none with the scope `admin`.
pub(crate) async fn make(engine: &Engine, store: &Place) -> anyhow::Result<Option<FirstKey>> {
    let Some(secret) = abide_server::first_key(engine).await? else { return Ok(None) };
    let path = path_beside(store);
    match write(&path, &secret) {
        Ok(()) => Ok(Some(FirstKey::InFile(path))),
        Err(error) => {
            tracing::warn!(file = %path.display(), %error, "the first key could not be written to its file");
            Ok(Some(FirstKey::Shown(secret)))
        }
    }
}

fn path_beside(store: &Place) -> PathBuf {
    let mut name = match store {
        Place::File(path) => path.as_os_str().to_owned(),
        Place::Database(_) => OF_A_DATABASE.into(),
    };
    name.push(ENDING);
    PathBuf::from(name)
}

/// A key that is in the file already is not good any more: otherwise there would be no first one to make.
fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = private::create(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}

impl fmt::Display for FirstKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirstKey::InFile(path) => write!(
                f,
                "The first key, with the scope `admin`, is in {path}; only its owner can read it. Use it, make others, and remove it:\n  \
                 export ABIDE_API_KEY=$(cat {path})",
                path = path.display()
            ),
            FirstKey::Shown(secret) => {
                write!(f, "The first key, with the scope `admin`. It is shown only now:\n  {secret}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_is_in_a_file_that_only_its_owner_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = path_beside(&Place::File(folder.path().join("abide.db")));
        for secret in ["abk_1", "abk_2"] {
            write(&path, secret).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{secret}\n"));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let said = FirstKey::InFile(path).to_string();
        assert!(said.contains("abide.db.admin-key") && !said.contains("abk_"), "{said}");
    }
}
