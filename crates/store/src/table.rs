//! The tables in which all is kept, as far as every database has them: what backups copy and moves carry over. What a
//! database keeps beside them follows from these.

use rusqlite::types::Value;
use sha2::{Digest, Sha256};

/// The setting in which a store says that it is being moved, or was. It is no part of what is moved.
pub(crate) const MOVE: &str = "move";

/// The setting that tells a store from every other, its copies included.
pub const STORE_ID: &str = "store-id";
/// The setting of a copy with the id of the store it was made of.
pub const COPY_OF: &str = "copy-of";

/// The values of a row, in the order of the columns: numbers, texts as they are meant, and bytes.
pub(crate) type Row = Vec<Value>;

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
    /// Columns with names, which not every database can write as they are. The other texts are JSON.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "SQLite can write every name"))]
    pub(crate) names: &'static [&'static str],
    /// The columns that tell its rows apart.
    pub(crate) key: &'static [&'static str],
}

impl Table {
    /// The values of these columns in a row.
    pub(crate) fn values_of(&self, columns: &[&str], row: &Row) -> Row {
        let place = |name: &&str| self.columns.iter().position(|column| column == name);
        columns.iter().filter_map(place).filter_map(|place| row.get(place).cloned()).collect()
    }
}

/// In the order in which they are carried over. What a run's row says of its last change follows from its history.
pub(crate) const TABLES: [Table; 22] = [
    Table {
        name: "workspaces",
        columns: &["number", "name", "created_at"],
        names: &["name"],
        key: &["number"],
    },
    Table { name: "settings", columns: &["name", "value"], names: &["name"], key: &["name"] },
    Table {
        name: "api_keys",
        columns: &[
            "id",
            "workspace",
            "name",
            "hash",
            "prefix",
            "scopes",
            "created_at",
            "last_used_at",
            "revoked_at",
            "expires_at",
        ],
        names: &["name", "prefix"],
        key: &["id"],
    },
    Table { name: "audit", columns: &["number", "workspace", "note", "hash"], names: &[], key: &["number"] },
    Table {
        name: "definitions",
        columns: &["number", "id", "workspace", "name", "version", "document", "awaits", "created_at"],
        names: &["name", "version"],
        key: &["workspace", "number"],
    },
    Table {
        name: "history",
        columns: &["run", "based_on", "seq", "written_at", "chunk"],
        names: &[],
        key: &["run", "based_on"],
    },
    Table {
        name: "runs",
        columns: &[
            "id",
            "workspace",
            "definition",
            "version",
            "status",
            "created_at",
            "ended_at",
            "deadline_at",
            "tags",
            "sum",
        ],
        names: &["definition", "version"],
        key: &["id"],
    },
    Table {
        name: "run_tags",
        columns: &["workspace", "tag", "run"],
        names: &["tag"],
        key: &["workspace", "tag", "run"],
    },
    Table {
        name: "waitpoints",
        columns: &[
            "run",
            "number",
            "workspace",
            "kind",
            "status",
            "created_at",
            "resume_at",
            "listens",
            "filter",
        ],
        names: &["listens"],
        key: &["run", "number"],
    },
    Table {
        name: "link_generations",
        columns: &["run", "number", "generation"],
        names: &[],
        key: &["run", "number"],
    },
    Table {
        name: "events",
        columns: &["id", "workspace", "event_id", "received_at", "data", "run"],
        names: &["event_id"],
        key: &["workspace", "event_id", "received_at", "id"],
    },
    Table {
        name: "event_starts",
        columns: &["workspace", "event_id", "workflow", "refused"],
        names: &["event_id", "workflow"],
        key: &["workspace", "event_id", "workflow"],
    },
    Table {
        name: "idempotency_records",
        columns: &["key", "digest", "reply", "written_at", "run"],
        names: &["key"],
        key: &["key"],
    },
    Table {
        name: "costs",
        columns: &[
            "workspace",
            "day",
            "definition",
            "model",
            "calls",
            "input_tokens",
            "cached_input_tokens",
            "output_tokens",
            "cost_micros",
            "unpriced_calls",
        ],
        names: &["definition", "model"],
        key: &["workspace", "day", "definition", "model"],
    },
    Table {
        name: "schedules",
        columns: &["id", "workspace", "name", "seq", "document"],
        names: &["name"],
        key: &["id"],
    },
    Table {
        name: "limits",
        columns: &[
            "id",
            "workspace",
            "name",
            "key",
            "version",
            "due_at",
            "used",
            "waiting",
            "waiting_since",
            "document",
        ],
        names: &["name", "key"],
        key: &["id"],
    },
    Table {
        name: "limit_settings",
        columns: &["id", "workspace", "name", "version", "document"],
        names: &["name"],
        key: &["id"],
    },
    Table {
        name: "follow_ups",
        columns: &["workspace", "id", "owner", "version", "document"],
        names: &[],
        key: &["workspace", "id"],
    },
    Table { name: "descendants", columns: &["root", "count"], names: &[], key: &["root"] },
    Table {
        name: "held",
        columns: &["id", "workspace", "held_at", "held_by", "reason"],
        names: &["held_by", "reason"],
        key: &["id"],
    },
    Table {
        name: "webhooks",
        columns: &[
            "id",
            "workspace",
            "url",
            "description",
            "topics",
            "secrets",
            "created_at",
            "failing_since",
            "disabled_at",
            "disabled_why",
        ],
        names: &["url", "description", "disabled_why"],
        key: &["id"],
    },
    Table {
        name: "deliveries",
        columns: &[
            "id",
            "webhook",
            "topic",
            "run",
            "body",
            "created_at",
            "status",
            "next_attempt_at",
            "attempts",
            "log",
        ],
        names: &[],
        key: &["id"],
    },
];

/// How many rows there are, and a checksum over all their values. The order of the rows does not matter to it, for
/// databases sort names in different ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    pub checksum: u128,
}

impl Sum {
    pub(crate) fn add(&mut self, row: &Row) {
        let mut hash = Sha256::new();
        for value in row {
            let (kind, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Integer(number) => (1, &number.to_be_bytes()),
                Value::Real(number) => (2, &number.to_be_bytes()),
                Value::Text(text) => (3, text.as_bytes()),
                Value::Blob(bytes) => (4, bytes),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        let hash = hash.finalize();
        let half = hash.first_chunk().expect("a hash of 32 bytes");
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(*half));
    }
}

/// What a row takes in memory, about.
pub(crate) fn weight(row: &Row) -> usize {
    let weight = |value: &Value| match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    };
    row.iter().map(weight).sum::<usize>() + row.len() * size_of::<Value>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_made_of_columns() {
        for table in &TABLES {
            for column in table.key.iter().chain(table.names) {
                assert!(table.columns.contains(column), "{}: {column}", table.name);
            }
        }
    }

    #[test]
    fn a_sum_tells_rows_apart_and_does_not_mind_their_order() {
        let sum = |rows: &[Row]| {
            let mut sum = Sum::default();
            rows.iter().for_each(|row| sum.add(row));
            sum
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let (one, other) = (vec![text("a"), Value::Null], vec![text("b"), Value::Integer(1)]);
        assert_eq!(sum(&[one.clone(), other.clone()]), sum(&[other.clone(), one.clone()]));
        assert_ne!(sum(&[one.clone(), one.clone()]), sum(&[one.clone(), other]));
        let different: [Row; 6] = [
            vec![text("ab"), text("c")],
            vec![text("a"), text("bc")],
            vec![text("abc"), Value::Null],
            vec![Value::Blob(b"ab".to_vec()), text("c")],
            vec![Value::Integer(0), Value::Null],
            vec![Value::Null, Value::Null],
        ];
        for (index, row) in different.iter().enumerate() {
            for another in &different[index + 1..] {
                assert_ne!(sum(std::slice::from_ref(row)), sum(std::slice::from_ref(another)));
            }
        }
    }
}
