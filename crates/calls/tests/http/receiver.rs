//! A server that answers each request with the bytes it is told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub(crate) struct Receiver {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<Head>>>,
    accepting: JoinHandle<()>,
}

/// The request line, the headers, and what came of the body with them.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) text: String,
}

impl Head {
    pub(crate) fn path(&self) -> &str {
        self.text.split(' ').nth(1).unwrap()
    }
}

impl Receiver {
    /// An empty answer leaves the caller waiting; `connection: close` in it closes the connection behind it.
    pub(crate) async fn start(answer: impl Fn(&Head) -> String + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&heads), Arc::new(answer));
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                connections.spawn(async move {
                    serve(stream, |head| {
                        seen.lock().unwrap().push(head.clone());
                        answer(head)
                    })
                    .await
                });
            }
        });
        Receiver { address, heads, accepting }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn heads(&self) -> Vec<Head> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: impl Fn(&Head) -> String) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let plain = text.starts_with(|first: char| first.is_ascii_alphabetic());
        if plain && !text.contains("\r\n\r\n") {
            continue;
        }
        let answer = answer(&Head { text });
        read.clear();
        if stream.write_all(answer.as_bytes()).await.is_err() || answer.contains("connection: close") {
            return;
        }
    }
}

pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn redirect(status: u16, target: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n")
}
