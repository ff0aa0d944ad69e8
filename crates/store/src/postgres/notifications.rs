//! Notifications of what is committed, by NOTIFY. They leave after the commit, on a connection of their own: NOTIFY inside
//! of a commit makes every commit of the database wait for every other. What is lost with a connection or a process is
//! found by whoever looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::RunStatus;
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_postgres::{AsyncMessage, Client, Statement};

use crate::cluster::ClusterNotification;
use crate::postgres::column;
use crate::postgres::connection::{PgConnection, Sent};
use crate::postgres::open::Address;
use crate::tasks::TaskWrite;
use crate::{Batch, code};

/// A payload is shorter than 8,000 bytes.
const PAYLOAD_BYTES: usize = 7_900;
/// Notifications that wait to be sent; more are not sent at all.
const WAITING: usize = 50_000;
/// What is committed within this time is sent together: every message wakes all nodes.
const GATHER: Duration = Duration::from_millis(5);
/// How soon a lost connection is replaced.
const AGAIN: Duration = Duration::from_millis(250);

/// Where a commit leaves its notifications.
#[derive(Debug)]
pub(super) struct Notifier {
    lines: UnboundedSender<Vec<String>>,
    /// No other node is there to be notified.
    is_alone: AtomicBool,
}

impl Notifier {
    /// Whoever comes later looks for himself.
    pub(super) fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// Never waits and never fails: a commit does not depend on who is notified of it.
    pub(super) fn notify(&self, batch: &Batch<'_>) {
        if self.is_alone.load(Ordering::Relaxed) {
            return;
        }
        let runs = batch.runs.iter().filter(|write| !write.records.is_empty()).map(|write| write.run);
        let runs = runs.map(|run| ClusterNotification::RunChanged {
            run: run.id,
            workspace: run.workspace,
            status: run.status,
            version: run.seq,
        });
        let tasks = batch.tasks.iter().filter_map(|task| match task {
            TaskWrite::Put(task) if !task.is_taken => Some(ClusterNotification::TaskReady {
                workspace: task.workspace,
                queue: Arc::clone(&task.queue),
            }),
            TaskWrite::Put(_) | TaskWrite::Remove { .. } | TaskWrite::Renew { .. } => None,
        });
        let mut lines: Vec<String> =
            tasks.chain(runs).filter_map(|notification| write(&notification)).collect();
        lines.dedup();
        if !lines.is_empty() {
            // The task that sends them may have ended.
            let _ = self.lines.send(lines);
        }
    }
}

/// Begins to send and to receive notifications, unless this store already does.
pub(super) fn begin(
    connection: &PgConnection,
    listener: Box<dyn Fn(Vec<ClusterNotification>) + Send + Sync>,
) {
    let (lines, unsent) = unbounded_channel();
    if connection.notifier.set(Notifier { lines, is_alone: AtomicBool::new(false) }).is_ok() {
        connection.driver.spawn(live(
            Arc::clone(&connection.address),
            connection.driver.statements(),
            unsent,
            listener,
        ));
    }
}

/// A line of a payload. A notification that does not fit is not sent.
fn write(notification: &ClusterNotification) -> Option<String> {
    let line = match notification {
        ClusterNotification::RunChanged { run, workspace, status, version } => {
            format!("r {:032x} {} {} {version}", run.0, workspace.0, code::run_status(*status))
        }
        ClusterNotification::TaskReady { workspace, queue } => {
            format!("t {} {}", workspace.0, serde_json::to_string(&column::name(queue)).ok()?)
        }
        ClusterNotification::Missed => return None,
    };
    (line.len() <= PAYLOAD_BYTES).then_some(line)
}

/// `None`: a line that only another version of this program understands.
fn read(line: &str) -> Option<ClusterNotification> {
    let mut words = line.splitn(3, ' ');
    match words.next()? {
        "r" => {
            let run = RunId(u128::from_str_radix(words.next()?, 16).ok()?);
            let mut numbers = words.next()?.split(' ');
            let workspace = WorkspaceId(numbers.next()?.parse().ok()?);
            let status = code::read(numbers.next()?.parse().ok()?, &RunStatus::ALL, code::run_status).ok()?;
            Some(ClusterNotification::RunChanged {
                run,
                workspace,
                status,
                version: numbers.next()?.parse().ok()?,
            })
        }
        "t" => {
            let workspace = WorkspaceId(words.next()?.parse().ok()?);
            let queue: String = serde_json::from_str(words.next()?).ok()?;
            Some(ClusterNotification::TaskReady { workspace, queue: column::read_name(queue).into() })
        }
        _ => None,
    }
}

async fn live(
    address: Arc<Address>,
    sent: Sent,
    mut unsent: UnboundedReceiver<Vec<String>>,
    listener: Box<dyn Fn(Vec<ClusterNotification>) + Send + Sync>,
) {
    loop {
        if let Ok((sender, mut received)) = connect(&address).await {
            listener(vec![ClusterNotification::Missed]);
            let mut quiet_until = Instant::now();
            loop {
                tokio::select! {
                    notification = received.recv() => match notification {
                        Some(notification) => {
                            listener(notification.payload().lines().filter_map(read).collect());
                        }
                        None => break,
                    },
                    lines = next(&mut unsent, quiet_until) => match lines {
                        Some(lines) => {
                            if send(&sender, &sent, lines, &mut unsent).await.is_err() {
                                break;
                            }
                            quiet_until = Instant::now() + GATHER;
                        }
                        None => return,
                    },
                }
            }
        }
        while let Ok(_old) = unsent.try_recv() {}
        if unsent.is_closed() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn next(unsent: &mut UnboundedReceiver<Vec<String>>, quiet_until: Instant) -> Option<Vec<String>> {
    tokio::time::sleep_until(quiet_until).await;
    unsent.recv().await
}

/// Sends these lines, and those that came meanwhile.
async fn send(
    sender: &Sender,
    sent: &Sent,
    first: Vec<String>,
    unsent: &mut UnboundedReceiver<Vec<String>>,
) -> Result<(), tokio_postgres::Error> {
    let mut lines = first;
    while let Ok(more) = unsent.try_recv() {
        if lines.len() < WAITING {
            lines.extend(more);
        }
    }
    let mut payload = String::new();
    for line in lines {
        if payload.len() + line.len() + 1 > PAYLOAD_BYTES {
            sent.add(1);
            sender.notify(&payload).await?;
            payload.clear();
        }
        payload.push_str(&line);
        payload.push('\n');
    }
    sent.add(1);
    sender.notify(&payload).await
}

/// A connection that notifies the others.
struct Sender {
    client: Client,
    notify: Statement,
}

impl Sender {
    async fn notify(&self, payload: &String) -> Result<(), tokio_postgres::Error> {
        self.client.execute(&self.notify, &[payload]).await.map(drop)
    }
}

/// A connection that sends notifications and receives those of the others.
async fn connect(
    address: &Address,
) -> Result<(Sender, UnboundedReceiver<tokio_postgres::Notification>), tokio_postgres::Error> {
    let (client, mut connection) = address.connect().await?;
    let (notes, received) = unbounded_channel();
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
    Ok((Sender { client, notify }, received))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_read_as_they_are_written() {
        let run = RunId(u128::MAX / 3);
        let changed =
            |status| ClusterNotification::RunChanged { run, workspace: WorkspaceId(7), status, version: 12 };
        for notification in RunStatus::ALL.map(changed) {
            assert_eq!(read(&write(&notification).unwrap()), Some(notification));
        }
        for queue in ["", "send mail", "a\nb\0c\\", "…"] {
            let ready = ClusterNotification::TaskReady { workspace: WorkspaceId(0), queue: queue.into() };
            let line = write(&ready).unwrap();
            assert_eq!((line.lines().count(), read(&line)), (1, Some(ready)));
        }
        for other in ["", "r", "r 0 0", "t x y", "z 1 2"] {
            assert_eq!(read(other), None);
        }
    }
}
