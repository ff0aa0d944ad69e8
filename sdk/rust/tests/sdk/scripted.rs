//! A server that gives answers by a script, and remembers what it was asked.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
}

#[derive(Clone, Copy)]
pub(crate) enum Answer {
    Yes(&'static str),
    /// Yes, and that is all.
    Nothing,
    /// The connection is closed without a word.
    HangUp,
    Busy,
    /// Something in between says that the server is not there.
    Proxy,
}

pub(crate) struct Scripted {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Scripted {
    /// When the script is over, its last answer is given again.
    pub(crate) async fn new(answers: &[Answer]) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (mut answers, seen) = (VecDeque::from(answers.to_vec()), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                // A connection that was opened in advance may bring nothing.
                let Some(request) = read(&mut stream).await else { continue };
                seen.lock().unwrap().push(request);
                let answer = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0] };
                if let Some(text) = written(answer) {
                    stream.write_all(text.as_bytes()).await.unwrap();
                    stream.shutdown().await.unwrap();
                }
            }
        });
        Scripted { url, asked }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { method, path, headers })
}

fn written(answer: Answer) -> Option<String> {
    let busy = r#"{"type": "", "title": "", "status": 503, "code": "OVERLOADED", "detail": "later"}"#;
    let (head, body) = match answer {
        Answer::HangUp => return None,
        Answer::Yes(body) => ("200 OK", body),
        Answer::Nothing => ("204 No Content", ""),
        Answer::Busy => ("503 Service Unavailable\r\nretry-after: 0", busy),
        Answer::Proxy => ("502 Bad Gateway", "<html>"),
    };
    let length = body.len();
    Some(format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"))
}
