//! Tables for people: columns as wide as they must be, and no wider than the terminal together.

use crate::terminal::shortened;

const GAP: &str = "  ";
/// A column is not made narrower than this.
const NARROWEST: usize = 8;

#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    head: &'static str,
    fit: Fit,
}

/// What becomes of a column where there is not room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Whole,
    Shortened,
    LeftOut,
}

/// A column that is always shown whole: an id, a status.
pub(crate) const fn whole(head: &'static str) -> Column {
    Column { head, fit: Fit::Whole }
}

/// A column whose text is cut where there is no room.
pub(crate) const fn shortening(head: &'static str) -> Column {
    Column { head, fit: Fit::Shortened }
}

/// A column that goes first where there is no room.
pub(crate) const fn optional(head: &'static str) -> Column {
    Column { head, fit: Fit::LeftOut }
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines of the table, in this width if there is a limit.
    pub(crate) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let mut widths: Vec<Option<usize>> =
            (0..self.columns.len()).map(|column| Some(self.width(column))).collect();
        if let Some(width) = width {
            self.fit(&mut widths, width);
        }
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head).collect();
        let mut lines = vec![line(&heads, &widths)];
        lines.extend(self.rows.iter().map(|row| {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            line(&cells, &widths)
        }));
        lines
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].head.len()]).max().unwrap_or(0)
    }

    fn fit(&self, widths: &mut [Option<usize>], limit: usize) {
        for column in (0..self.columns.len()).rev() {
            if total(widths) > limit && self.columns[column].fit == Fit::LeftOut {
                widths[column] = None;
            }
        }
        loop {
            let over = total(widths).saturating_sub(limit);
            let shortest = |column: &usize| self.columns[*column].fit == Fit::Shortened;
            let widest = (0..self.columns.len()).filter(shortest).max_by_key(|column| widths[*column]);
            match widest.and_then(|column| widths[column].as_mut()) {
                Some(width) if over > 0 && *width > NARROWEST => *width -= 1,
                Some(_) | None => return,
            }
        }
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown: Vec<usize> = widths.iter().copied().flatten().collect();
    shown.iter().sum::<usize>() + GAP.len() * shown.len().saturating_sub(1)
}

fn line(cells: &[&str], widths: &[Option<usize>]) -> String {
    let shown = cells.iter().zip(widths).filter_map(|(cell, width)| width.map(|width| (cell, width)));
    let padded: Vec<String> =
        shown.map(|(cell, width)| format!("{:<width$}", shortened(cell, width))).collect();
    padded.join(GAP).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([whole("ID"), shortening("FOR"), optional("SINCE")]);
        table.row(["wp_1".to_owned(), "a rather long sentence".to_owned(), "yesterday".to_owned()]);
        table.row(["wp_22".to_owned(), "short".to_owned(), "now".to_owned()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let expected = [
            "ID     FOR                     SINCE",
            "wp_1   a rather long sentence  yesterday",
            "wp_22  short                   now",
        ];
        assert_eq!(table().lines(None), expected);
    }

    #[test]
    fn a_narrow_terminal_costs_the_optional_column_first_and_then_letters() {
        assert_eq!(table().lines(Some(29)), ["ID     FOR", "wp_1   a rather long sentence", "wp_22  short"]);
        assert_eq!(table().lines(Some(20)), ["ID     FOR", "wp_1   a rather lon…", "wp_22  short"]);
        assert!(table().lines(Some(3))[1].starts_with("wp_1 "), "an id is never cut");
    }
}
