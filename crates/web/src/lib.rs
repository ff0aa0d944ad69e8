//! The dashboard's files, as `web/build` made them before this was compiled, and the book's, made of `docs/`. Where there
//! are none, the server says how to get them.

/// A file of the dashboard or of the book.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// From the site's root, without a slash before it.
    pub path: &'static str,
    pub bytes: &'static [u8],
    /// The file's content, compressed.
    pub gzip: Option<&'static [u8]>,
}

const ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page that all others are shown in.
pub const INDEX: &str = "index.html";

const BOOK: &[Asset] = include!(concat!(env!("OUT_DIR"), "/book.rs"));

/// A file of the book, by its path from the book's root.
pub fn book(path: &str) -> Option<&'static Asset> {
    BOOK.iter().find(|asset| asset.path == path)
}

pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

impl Asset {
    pub fn content_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("json") => "application/json",
            Some("png") => "image/png",
            Some("svg") => "image/svg+xml",
            Some("md") => "text/markdown; charset=utf-8",
            Some("txt") => "text/plain; charset=utf-8",
            Some(_) | None => "application/octet-stream",
        }
    }

    /// Whether the file never changes: its name holds a digest of its content.
    pub fn is_immutable(&self) -> bool {
        self.path.starts_with("assets/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_not_found() {
        assert!(asset("no-such-file.js").is_none());
    }

    #[test]
    fn what_was_built_has_a_page_and_every_file_a_type() {
        for asset in ASSETS.iter().chain(BOOK) {
            assert_ne!(asset.content_type(), "application/octet-stream", "{}", asset.path);
            assert!(!asset.bytes.is_empty(), "{}", asset.path);
        }
        assert_eq!(asset(INDEX).is_some(), !ASSETS.is_empty());
        assert_eq!(book(INDEX).is_some(), !BOOK.is_empty());
    }
}
