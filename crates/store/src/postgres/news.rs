//! Word of what is committed, by NOTIFY. It leaves after the commit, on a connection of its own: inside of it, it would
//! make every commit of the database wait for every other. What is lost with a connection or a process is found by
//! whoever looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::RunStatus;
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_postgres::{AsyncMessage, Client, Notification, Statement};

use crate::postgres::column;
use crate::postgres::link::{Link, Sent};
use crate::postgres::open::Address;
use crate::share::{News, TaskWrite};
use crate::{Batch, code};

/// A payload is shorter than 8,000 bytes.
const PAYLOAD_BYTES: usize = 7_900;
/// Pieces of news that wait to be told; more are not told at all.
const WAITING: usize = 50_000;
/// What is to be told so soon after something else is told together: every message wakes all nodes.
const GATHER: Duration = Duration::from_millis(5);
/// How soon a lost connection is replaced.
const AGAIN: Duration = Duration::from_millis(250);

/// Where a commit leaves its news.
#[derive(Debug)]
pub(super) struct Crier {
    words: UnboundedSender<Vec<String>>,
    /// Nobody is there to hear it.
    is_alone: AtomicBool,
}

impl Crier {
    /// Whoever comes later looks for himself.
    pub(super) fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// Whoever commits does not wait, and whatever happens to the news does not concern him.
    pub(super) fn tell(&self, batch: &Batch<'_>) {
        if self.is_alone.load(Ordering::Relaxed) {
            return;
        }
        let runs = batch.runs.iter().filter(|write| !write.records.is_empty()).map(|write| write.run);
        let runs = runs.map(|run| News::RunChanged {
            run: run.id,
            workspace: run.workspace,
            status: run.status,
            version: run.seq,
        });
        let tasks = batch.tasks.iter().filter_map(|task| match task {
            TaskWrite::Put(task) if !task.is_taken => {
                Some(News::TaskReady { workspace: task.workspace, queue: Arc::clone(&task.queue) })
            }
            TaskWrite::Put(_) | TaskWrite::Remove { .. } | TaskWrite::Renew { .. } => None,
        });
        let mut lines: Vec<String> = tasks.chain(runs).filter_map(|news| write(&news)).collect();
        lines.dedup();
        if !lines.is_empty() {
            // Whoever tells them may have gone.
            let _ = self.words.send(lines);
        }
    }
}

/// Begins to tell and to hear, if nobody does so far.
pub(super) fn begin(link: &Link, hear: Box<dyn Fn(Vec<News>) + Send + Sync>) {
    let (words, told) = unbounded_channel();
    if link.crier.set(Crier { words, is_alone: AtomicBool::new(false) }).is_ok() {
        link.driver.spawn(live(Arc::clone(&link.address), link.driver.statements(), told, hear));
    }
}

/// A line of a payload. What does not fit is not told.
fn write(news: &News) -> Option<String> {
    let line = match news {
        News::RunChanged { run, workspace, status, version } => {
            format!("r {:032x} {} {} {version}", run.0, workspace.0, code::run_status(*status))
        }
        News::TaskReady { workspace, queue } => {
            format!("t {} {}", workspace.0, serde_json::to_string(&column::name(queue)).ok()?)
        }
        News::Missed => return None,
    };
    (line.len() <= PAYLOAD_BYTES).then_some(line)
}

/// What another version of this program says may not be understood.
fn read(line: &str) -> Option<News> {
    let mut words = line.splitn(3, ' ');
    match words.next()? {
        "r" => {
            let run = RunId(u128::from_str_radix(words.next()?, 16).ok()?);
            let mut numbers = words.next()?.split(' ');
            let workspace = WorkspaceId(numbers.next()?.parse().ok()?);
            let status = code::read(numbers.next()?.parse().ok()?, &RunStatus::ALL, code::run_status).ok()?;
            Some(News::RunChanged { run, workspace, status, version: numbers.next()?.parse().ok()? })
        }
        "t" => {
            let workspace = WorkspaceId(words.next()?.parse().ok()?);
            let queue: String = serde_json::from_str(words.next()?).ok()?;
            Some(News::TaskReady { workspace, queue: column::read_name(queue).into() })
        }
        _ => None,
    }
}

async fn live(
    address: Arc<Address>,
    sent: Sent,
    mut told: UnboundedReceiver<Vec<String>>,
    hear: Box<dyn Fn(Vec<News>) + Send + Sync>,
) {
    loop {
        if let Ok((voice, mut heard)) = listen(&address).await {
            hear(vec![News::Missed]);
            let mut quiet_until = Instant::now();
            loop {
                tokio::select! {
                    notification = heard.recv() => match notification {
                        Some(notification) => {
                            hear(notification.payload().lines().filter_map(read).collect());
                        }
                        None => break,
                    },
                    lines = next(&mut told, quiet_until) => match lines {
                        Some(lines) => {
                            if tell(&voice, &sent, lines, &mut told).await.is_err() {
                                break;
                            }
                            quiet_until = Instant::now() + GATHER;
                        }
                        None => return,
                    },
                }
            }
        }
        while let Ok(_old) = told.try_recv() {}
        if told.is_closed() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn next(told: &mut UnboundedReceiver<Vec<String>>, quiet_until: Instant) -> Option<Vec<String>> {
    tokio::time::sleep_until(quiet_until).await;
    told.recv().await
}

/// Tells these, and what came meanwhile.
async fn tell(
    voice: &Voice,
    sent: &Sent,
    first: Vec<String>,
    told: &mut UnboundedReceiver<Vec<String>>,
) -> Result<(), tokio_postgres::Error> {
    let mut lines = first;
    while let Ok(more) = told.try_recv() {
        if lines.len() < WAITING {
            lines.extend(more);
        }
    }
    let mut payload = String::new();
    for line in lines {
        if payload.len() + line.len() + 1 > PAYLOAD_BYTES {
            sent.add(1);
            voice.say(&payload).await?;
            payload.clear();
        }
        payload.push_str(&line);
        payload.push('\n');
    }
    sent.add(1);
    voice.say(&payload).await
}

/// A connection that tells others.
struct Voice {
    client: Client,
    notify: Statement,
}

impl Voice {
    async fn say(&self, payload: &String) -> Result<(), tokio_postgres::Error> {
        self.client.execute(&self.notify, &[payload]).await.map(drop)
    }
}

/// A connection that hears what others tell.
async fn listen(
    address: &Address,
) -> Result<(Voice, UnboundedReceiver<Notification>), tokio_postgres::Error> {
    let (client, mut connection) = address.connect().await?;
    let (notes, heard) = unbounded_channel();
    let (ours, own) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(note) = message
                && note.process_id() != *own.borrow()
                && notes.send(note).is_err()
            {
                return;
            }
        }
    });
    client.batch_execute("SET synchronous_commit = off; LISTEN abide").await?;
    let own: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
    let _ = ours.send(own);
    let notify = client.prepare("SELECT pg_notify('abide', $1)").await?;
    Ok((Voice { client, notify }, heard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_are_written() {
        let run = RunId(u128::MAX / 3);
        let changed = |status| News::RunChanged { run, workspace: WorkspaceId(7), status, version: 12 };
        for news in RunStatus::ALL.map(changed) {
            assert_eq!(read(&write(&news).unwrap()), Some(news));
        }
        for queue in ["", "send mail", "a\nb\0c\\", "…"] {
            let news = News::TaskReady { workspace: WorkspaceId(0), queue: queue.into() };
            let line = write(&news).unwrap();
            assert_eq!((line.lines().count(), read(&line)), (1, Some(news)));
        }
        for other in ["", "r", "r 0 0", "t x y", "z 1 2"] {
            assert_eq!(read(other), None);
        }
    }
}
