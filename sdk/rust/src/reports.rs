//! Reports on tasks, sent many at a time. What is reported while a request is under way goes into the next one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::client::Client;
use crate::length::backoff;
use crate::problem::{Error, ProblemKind};
use crate::transport::at;
use crate::wire::{ReportDone, ReportedTasks, TaskReport};

/// The server takes 1,000 reports and 8 MiB in one request.
const MOST_REPORTS: usize = 1_000;
const MOST_BYTES: usize = 7 * 1024 * 1024;
/// More would not be quicker: the server commits what comes together anyway.
const REQUESTS_UNDER_WAY: usize = 2;
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub(crate) struct Reports {
    client: Client,
    /// How long a server that does not answer is tried: the leases are lost by then.
    patience: Duration,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    under_way: usize,
}

#[derive(Debug)]
struct Waiting {
    text: String,
    answer: oneshot::Sender<Result<ReportDone, Error>>,
}

impl Reports {
    pub(crate) fn new(client: Client, patience: Duration) -> Reports {
        Reports { client, patience, queue: Arc::default() }
    }

    pub(crate) async fn send(&self, report: impl Into<TaskReport>) -> Result<ReportDone, Error> {
        let written = serde_json::to_string(&report.into());
        let text = written.map_err(|error| Error::not_json("a report", &error))?;
        let (answer, answered) = oneshot::channel();
        let idle = self.locked(|queue| {
            queue.waiting.push_back(Waiting { text, answer });
            let idle = queue.under_way < REQUESTS_UNDER_WAY;
            queue.under_way += usize::from(idle);
            idle
        });
        if idle {
            tokio::spawn(self.clone().flush());
        }
        answered.await.unwrap_or_else(|_| Err(Error::Unusable("the runtime has ended".to_owned())))
    }

    fn locked<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        change(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends for as long as there is something to send.
    async fn flush(self) {
        loop {
            // Whatever else is ready to be reported comes along.
            tokio::task::yield_now().await;
            let batch = self.locked(|queue| {
                let batch = queue.take();
                queue.under_way -= usize::from(batch.is_empty());
                batch
            });
            if batch.is_empty() {
                return;
            }
            self.deliver(batch).await;
        }
    }

    async fn deliver(&self, batch: Vec<Waiting>) {
        let texts: Vec<&str> = batch.iter().map(|waiting| waiting.text.as_str()).collect();
        match self.post(&texts).await {
            Ok(done) => {
                let mut results = done.results.into_iter();
                for waiting in batch {
                    answer(waiting, results.next());
                }
            }
            // One report that cannot be read must not take the others with it.
            Err(Error::Refused(_)) if batch.len() > 1 => {
                for waiting in batch {
                    match self.post(&[&waiting.text]).await {
                        Ok(done) => answer(waiting, done.results.into_iter().next()),
                        Err(error) => refuse(waiting, error),
                    }
                }
            }
            Err(error) => batch.into_iter().for_each(|waiting| refuse(waiting, error.clone())),
        }
    }

    async fn post(&self, texts: &[&str]) -> Result<ReportedTasks, Error> {
        let until = Instant::now() + self.patience;
        let body = format!("{{\"reports\":[{}]}}", texts.join(","));
        for attempt in 0.. {
            let request = self.client.post(at(&["tasks", "report"])).text(body.clone()).repeatable();
            match self.client.transport().json(request).await {
                Err(error) if error.is_passing() && Instant::now() < until => {
                    tokio::time::sleep(backoff(attempt, FIRST_BACKOFF, LONGEST_BACKOFF)).await;
                }
                answer => return answer,
            }
        }
        unreachable!("time passes")
    }
}

impl Queue {
    fn take(&mut self) -> Vec<Waiting> {
        let mut bytes = 0;
        let fits = self.waiting.iter().take(MOST_REPORTS).take_while(|waiting| {
            bytes += waiting.text.len() + 1;
            bytes <= MOST_BYTES
        });
        let count = fits.count().max(1).min(self.waiting.len());
        self.waiting.drain(..count).collect()
    }
}

/// A report that the server cannot read is refused like one that it does not take: whoever sent it fails its task.
fn refuse(waiting: Waiting, error: Error) {
    let unreadable = error.problem().filter(|problem| problem.kind() == ProblemKind::Invalid);
    let answered = match unreadable {
        Some(problem) => Ok(ReportDone { ok: false, problem: Some((**problem).clone()), reported: None }),
        None => Err(error),
    };
    // Who asked may have been taken back meanwhile.
    drop(waiting.answer.send(answered));
}

fn answer(waiting: Waiting, done: Option<ReportDone>) {
    let done = done.unwrap_or(ReportDone { ok: true, problem: None, reported: None });
    // Who asked may have been taken back meanwhile.
    drop(waiting.answer.send(Ok(done)));
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::wire::TaskReportRelease;

    /// Takes everything, and counts the requests.
    async fn takes_everything() -> (String, Arc<Mutex<usize>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let count = Arc::new(Mutex::new(0));
        let counted = count.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"]}") {
                    stream.read_buf(&mut request).await.unwrap();
                }
                *counted.lock().unwrap() += 1;
                let body = r#"{"results": []}"#;
                let head =
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        });
        (url, count)
    }

    #[tokio::test]
    async fn reports_that_come_together_go_out_together() {
        let (url, count) = takes_everything().await;
        let reports = Reports::new(Client::at(url).unwrap(), Duration::from_secs(1));
        let sent = join_all((0..500).map(|n| reports.send(TaskReportRelease::new(n.to_string())))).await;
        assert!(sent.into_iter().all(|done| done.is_ok_and(|done| done.ok)));
        assert!(*count.lock().unwrap() <= 20, "{count:?} requests");
    }

    #[test]
    fn a_batch_is_no_larger_than_the_server_takes_and_never_empty() {
        let waiting = |size| Waiting { text: "x".repeat(size), answer: oneshot::channel().0 };
        let mut queue =
            Queue { waiting: [MOST_BYTES + 1, 10, MOST_BYTES, 10].map(waiting).into(), under_way: 0 };
        let sizes: Vec<usize> =
            std::iter::repeat_with(|| queue.take().len()).take_while(|size| *size > 0).collect();
        assert_eq!(sizes, [1, 1, 1, 1]);
        queue.waiting = (0..MOST_REPORTS + 1).map(|_| waiting(1)).collect();
        assert_eq!((queue.take().len(), queue.take().len()), (MOST_REPORTS, 1));
    }
}
