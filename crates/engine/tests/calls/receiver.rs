//! A server that keeps what it is sent and answers as it is told.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub(crate) struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    head: String,
    pub(crate) body: String,
}

impl Received {
    /// `POST /path`
    pub(crate) fn line(&self) -> String {
        self.head.split(" HTTP/").next().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let found = self.head.lines().filter_map(|line| line.split_once(": "));
        found.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Receiver {
    /// The answer is a status and the rest of the head, and a body.
    pub(crate) async fn start(
        answer: impl Fn(usize, &Received) -> (String, String) + Send + Sync + 'static,
    ) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&received), Arc::new(answer));
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                connections.spawn(async move {
                    serve(stream, |received| {
                        let mut seen = seen.lock().unwrap();
                        seen.push(received.clone());
                        answer(seen.len(), received)
                    })
                    .await
                });
            }
        });
        Receiver { address, received, accepting }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: impl Fn(&Received) -> (String, String)) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let received = Received { head: head.to_owned(), body: body.to_owned() };
        let length = received.header("content-length").map_or(0, |length| length.parse().unwrap());
        if body.len() < length {
            continue;
        }
        read.clear();
        let (head, body) = answer(&received);
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

pub(crate) fn json(status: &str, body: Value) -> (String, String) {
    (format!("{status}\r\ncontent-type: application/json"), body.to_string())
}
