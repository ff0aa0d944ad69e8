//! Who woke, as the nodes write it down. It is written without a buffer, so that a node that is killed has written
//! what it saw.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use abide_core::task::Task;
use abide_engine::{Engine, TaskResult};
use jiff::Timestamp;
use serde_json::Value;

use crate::sleeper::{Asleep, WOKE, Wakes};

/// Which sleeper, when it was due, and when it woke: three numbers.
const NOTE_BYTES: usize = 24;
const READ_EVERY: Duration = Duration::from_millis(20);

/// A node's side.
pub(super) struct Pen(File);

impl Pen {
    pub(super) fn new(path: &Path) -> anyhow::Result<Pen> {
        Ok(Pen(OpenOptions::new().create(true).append(true).open(path)?))
    }

    /// Registers the handler that notes who wakes.
    pub(super) async fn watch(self: Arc<Pen>, engine: &Engine) -> anyhow::Result<()> {
        let woke = move |task: Task| {
            let noted = self.note(Asleep::of(&task.input), Timestamp::now().as_microsecond());
            async move {
                noted.expect("notes can be written");
                TaskResult::complete(Value::Null)
            }
        };
        Ok(engine.handler(WOKE, woke).await?)
    }

    fn note(&self, asleep: Asleep, now_us: i64) -> std::io::Result<()> {
        let mut note = Vec::with_capacity(NOTE_BYTES);
        for number in [asleep.n.map_or(-1, |n| n as i64), asleep.due, now_us] {
            note.extend(number.to_le_bytes());
        }
        (&self.0).write_all(&note)
    }
}

/// The side of whoever reads what all nodes write.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<File>);

impl Notes {
    pub(super) fn open(paths: &[PathBuf]) -> anyhow::Result<Notes> {
        Ok(Notes(paths.iter().map(File::open).collect::<Result<_, _>>()?))
    }

    /// Notes who woke until all have, or until nobody does any more.
    pub(super) async fn follow(&mut self, wakes: &Wakes, last_due_ms: i64) -> anyhow::Result<()> {
        let read = async {
            loop {
                self.read(wakes)?;
                tokio::time::sleep(READ_EVERY).await;
            }
        };
        tokio::select! {
            () = wakes.wait_for_all(last_due_ms) => Ok(()),
            failed = read => failed,
        }
    }

    /// Takes in what was written since.
    pub(super) fn read(&mut self, wakes: &Wakes) -> anyhow::Result<()> {
        for file in &mut self.0 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let (notes, rest) = bytes.as_chunks::<NOTE_BYTES>();
            anyhow::ensure!(rest.is_empty(), "half a note of who woke");
            for note in notes {
                let (numbers, _) = note.as_chunks::<8>();
                let [n, due, now_us] = [0, 1, 2].map(|index| i64::from_le_bytes(numbers[index]));
                wakes.note(Asleep { n: usize::try_from(n).ok(), due }, now_us);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_the_other_reads_as_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        let pen = Pen::new(&path).unwrap();
        let mut notes = Notes::open(&[path]).unwrap();
        let wakes = Wakes::new(3);
        pen.note(Asleep { n: Some(2), due: 5 }, 5_100).unwrap();
        notes.read(&wakes).unwrap();
        assert_eq!(wakes.woken(), 1);
        pen.note(Asleep { n: Some(2), due: 5 }, 5_200).unwrap();
        pen.note(Asleep { n: Some(0), due: 6 }, 5_900).unwrap();
        pen.note(Asleep { n: None, due: 0 }, 5_900).unwrap();
        notes.read(&wakes).unwrap();
        let told = wakes.tell();
        assert_eq!((told.lost, told.doubled, told.early), (1, 1, 1));
    }
}
