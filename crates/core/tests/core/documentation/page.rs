//! Pages of documentation: their tables and examples.

use crate::documentation::Names;

/// A table of a page, and the heading above it.
pub(crate) struct Table {
    heading: String,
    columns: Vec<String>,
    cells: Vec<Vec<String>>,
}

impl Table {
    /// The given columns of all rows.
    pub(crate) fn rows<const N: usize>(&self, columns: [&str; N]) -> Vec<[String; N]> {
        let places = columns.map(|name| self.columns.iter().position(|column| column == name).unwrap());
        self.cells.iter().map(|row| places.map(|place| row[place].clone())).collect()
    }

    /// What stands as code in a column; nothing twice.
    pub(crate) fn names(&self, column: &str) -> Names {
        let all: Vec<String> = self.rows([column]).iter().flat_map(|[cell]| codes(cell)).collect();
        let names: Names = all.iter().cloned().collect();
        assert_eq!(names.len(), all.len(), "{}: a name stands twice", self.heading);
        names
    }
}

fn tables(page: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let (mut heading, mut inside, mut in_block) = (String::new(), false, false);
    for line in page.lines() {
        in_block ^= line.starts_with("```");
        let is_row = line.starts_with('|') && !in_block;
        if line.starts_with('#') && !in_block {
            heading = line.trim_start_matches('#').trim().replace('`', "");
        } else if is_row && !inside {
            tables.push(Table { heading: heading.clone(), columns: cells(line), cells: Vec::new() });
        } else if is_row && !line.starts_with("|---") {
            tables.last_mut().unwrap().cells.push(cells(line));
        }
        inside = is_row;
    }
    tables
}

/// A bar that belongs to a cell is written `\|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The first table below a heading.
pub(crate) fn table(page: &str, heading: &str) -> Table {
    tables(page).into_iter().find(|table| table.heading == heading).unwrap_or_else(|| panic!("{heading}"))
}

/// The rows of all tables that have these columns.
pub(crate) fn rows<const N: usize>(page: &str, columns: [&str; N]) -> Vec<[String; N]> {
    let has_them =
        |table: &Table| columns.iter().all(|name| table.columns.iter().any(|column| column == name));
    let rows: Vec<_> =
        tables(page).into_iter().filter(has_them).flat_map(|table| table.rows(columns)).collect();
    assert!(!rows.is_empty(), "{columns:?}");
    rows
}

/// What stands in backquotes.
pub(crate) fn codes(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A cell that is nothing but code.
pub(crate) fn only_code(cell: &str) -> String {
    let inner = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
    inner.unwrap_or_else(|| panic!("not code: {cell}")).to_owned()
}

/// The examples in JSON and YAML.
pub(crate) fn blocks(page: &str) -> Vec<String> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    let block = |text: &str| {
        let (language, body) = text.split_once('\n')?;
        ["json", "yaml"].contains(&language).then(|| body.to_owned())
    };
    fenced.filter_map(block).collect()
}

/// With commas between thousands.
pub(crate) fn figure(number: impl ToString) -> String {
    let digits = number.to_string();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits;
    }
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
