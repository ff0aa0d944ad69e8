//! The book of this repository: no link leads nowhere, every recipe stands on its page as it is, and nothing is loaded
//! from elsewhere.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use abide_book::Book;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_link_anchor_and_picture_is_there_and_every_page_is_in_the_summary() {
    let book = Book::read(root()).unwrap();
    assert!(book.problems.is_empty(), "{}", book.problems.join("\n"));
}

#[test]
fn every_recipe_of_the_cookbook_stands_on_its_page_as_it_is() {
    let book = Book::read(root()).unwrap();
    let mut recipes = 0;
    for file in fs::read_dir(root().join("examples/cookbook")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.is_file() || name.ends_with(".json") {
            continue;
        }
        let slug = name.split('.').next().unwrap().replace('_', "-");
        let page = book
            .pages
            .get(&format!("docs/guides/cookbook/{slug}.md"))
            .unwrap_or_else(|| panic!("{name} has no page"));
        let code = fs::read_to_string(&path).unwrap();
        assert!(page.codes.iter().any(|block| block.text == code), "{}: {name} has drifted", page.path);
        recipes += 1;
    }
    assert_eq!(recipes, 20);
}

#[test]
fn pages_load_only_files_of_the_book_and_have_nothing_inline() {
    let book = Book::read(root()).unwrap();
    let files = book.files().unwrap();
    for file in files.iter().filter(|file| file.path.ends_with(".html")) {
        let html = String::from_utf8(file.bytes.clone()).unwrap();
        for forbidden in ["src=\"http", "<style", " style=\"", " onclick", "<script>"] {
            assert!(!html.contains(forbidden), "{}: {forbidden}", file.path);
        }
    }
    assert!(files.iter().any(|file| file.path == "index.html"));
    assert!(files.iter().any(|file| file.path == "search.json"));
}
