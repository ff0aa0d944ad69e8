//! Every file of `examples/` is a definition without doubts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use abide_definition::Definition;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json" || extension == "yaml"));
    files.sort();
    files
}

#[test]
fn every_example_is_a_definition_without_warnings() {
    assert!(examples().len() >= 16);
    for file in examples() {
        let text = std::fs::read_to_string(&file).unwrap();
        let checked =
            Definition::from_text(&text).unwrap_or_else(|rejected| panic!("{}: {rejected}", file.display()));
        assert_eq!(checked.warnings, [], "{}", file.display());
        let stem = file.file_stem().unwrap().to_str().unwrap();
        assert_eq!(checked.definition.name(), stem, "an example is called like its file");
    }
}

#[test]
fn every_example_is_in_the_table() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/README.md"))
            .unwrap();
    for file in examples() {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("[{name}]({name})")), "{name}");
    }
}

/// What is stored and shown is the same definition again.
#[test]
fn the_document_of_an_example_is_read_back_as_it_was_written() {
    for file in examples() {
        let text = std::fs::read_to_string(&file).unwrap();
        let document = Definition::from_text(&text).unwrap().definition.document;
        let again = Definition::from_json(&document.to_json()).unwrap().definition.document;
        assert_eq!(document, again, "{}", file.display());
    }
}
