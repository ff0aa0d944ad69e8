//! An HTTP server that keeps what it is sent and answers with the bytes it is told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A receiver at work on a free port of this machine, until it is dropped.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: JoinHandle<()>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Which request it is of all that this receiver got; the first is 1.
    pub number: usize,
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Received {
    /// The request line without its protocol: `POST /path`.
    pub fn line(&self) -> &str {
        self.head.split(" HTTP/").next().unwrap_or_default()
    }

    /// The path of the request line, with its query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The headers in their order, by the names they came with.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.lines().filter_map(|line| line.split_once(": "))
    }

    /// The first header of this name, in whatever case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The first whole request in these bytes. What does not begin like HTTP counts as one, whatever it is.
    fn parse(bytes: &[u8], number: usize) -> Option<Received> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !bytes.first()?.is_ascii_alphabetic() {
            return Some(Received { number, head: text(bytes), body: String::new() });
        }
        let end = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD)?;
        let body = &bytes[end + END_OF_HEAD.len()..];
        let received = Received { number, head: text(&bytes[..end]), body: text(body) };
        let length = received.header("content-length").map_or(0, |length| length.parse().unwrap());
        (body.len() >= length).then_some(received)
    }
}

impl Receiver {
    /// Starts a receiver that answers each request with these bytes. An empty answer leaves the caller waiting, and
    /// `connection: close` in an answer closes the connection behind it.
    pub async fn start(answer: impl Fn(&Received) -> String + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&received), Arc::new(answer));
        let accepting = tokio::spawn(async move {
            let (mut connections, number) = (JoinSet::new(), Arc::new(Mutex::new(0)));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, answer, number) = (Arc::clone(&seen), Arc::clone(&answer), Arc::clone(&number));
                connections.spawn(async move {
                    let take = |bytes: &[u8]| {
                        let mut number = number.lock().unwrap();
                        let received = Received::parse(bytes, *number + 1)?;
                        *number += 1;
                        seen.lock().unwrap().push(received.clone());
                        Some(answer(&received))
                    };
                    serve(stream, take).await;
                });
            }
        });
        Receiver { address, received, accepting }
    }

    /// The port on which the receiver listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request that came since [`Receiver::take`] was called last.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Every request that came since the last time, which are forgotten by it.
    pub fn take(&self) -> Vec<Received> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, take: impl Fn(&[u8]) -> Option<String>) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        read.extend_from_slice(&buffer[..count]);
        let Some(answer) = take(&read) else { continue };
        read.clear();
        if stream.write_all(answer.as_bytes()).await.is_err() || answer.contains("connection: close") {
            return;
        }
    }
}

/// An answer with this status and whatever further headers follow it, and this body.
pub fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// An answer with a JSON body.
pub fn json(head: &str, body: Value) -> String {
    answer(&format!("{head}\r\ncontent-type: application/json"), &body.to_string())
}

/// An answer that all is well.
pub fn ok(body: &str) -> String {
    answer("200 OK", body)
}

/// An answer that sends the caller elsewhere.
pub fn redirect(status: u16, target: &str) -> String {
    answer(&format!("{status} Elsewhere\r\nlocation: {target}"), "")
}
