//! A connection that is kept: HTTP/1.1 by hand, one request at a time. It understands what our server answers, which
//! always says its length, and nothing else.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Most answers fit; those that do not make it grow once.
const ANSWER_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    host: SocketAddr,
    request: Vec<u8>,
    answer: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'c> {
    pub(super) status: u16,
    pub(super) body: &'c [u8],
}

impl Connection {
    pub(super) async fn open(host: SocketAddr) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(host).await.context("the server cannot be reached")?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, host, request: Vec::new(), answer: Vec::with_capacity(ANSWER_BYTES) })
    }

    pub(super) async fn open_many(host: SocketAddr, count: usize) -> anyhow::Result<Vec<Connection>> {
        let mut opened = Vec::with_capacity(count);
        for _ in 0..count {
            opened.push(Connection::open(host).await?);
        }
        Ok(opened)
    }

    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<Answer<'_>> {
        self.ask("GET", path, "").await
    }

    pub(super) async fn post(&mut self, path: &str, body: &str) -> anyhow::Result<Answer<'_>> {
        self.ask("POST", path, body).await
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<Answer<'_>> {
        self.request.clear();
        let (host, length) = (self.host, body.len());
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        self.stream.write_all(&self.request).await?;
        self.answer.clear();
        let head = loop {
            self.read().await?;
            if let Some(head) = Head::read(&self.answer)? {
                break head;
            }
        };
        let end = head.body_at + head.body_bytes;
        self.answer.reserve(end.saturating_sub(self.answer.len()));
        while self.answer.len() < end {
            self.read().await?;
        }
        Ok(Answer { status: head.status, body: &self.answer[head.body_at..end] })
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.answer).await?;
        anyhow::ensure!(read > 0, "the server closed the connection before it had answered");
        Ok(())
    }
}

impl<'c> Answer<'c> {
    /// The body, if the status is this one.
    pub(super) fn expect(self, status: u16) -> anyhow::Result<&'c [u8]> {
        if self.status == status {
            return Ok(self.body);
        }
        anyhow::bail!("the server answered {}: {}", self.status, String::from_utf8_lossy(self.body))
    }
}

#[derive(Debug, PartialEq)]
struct Head {
    status: u16,
    body_at: usize,
    body_bytes: usize,
}

impl Head {
    /// `None` until all of it has come.
    fn read(answer: &[u8]) -> anyhow::Result<Option<Head>> {
        const END: &[u8] = b"\r\n\r\n";
        let Some(end) = answer.windows(END.len()).position(|bytes| bytes == END) else { return Ok(None) };
        let head = std::str::from_utf8(&answer[..end])?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|text| text.parse().ok());
        let length = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok()).flatten()
        });
        Ok(Some(Head {
            status: status.context("an answer without a status")?,
            body_at: end + END.len(),
            body_bytes: length.context("an answer that does not say its length")?,
        }))
    }
}

/// Whether an answer says this, word for word.
pub(super) fn says(body: &[u8], words: &str) -> bool {
    body.windows(words.len()).any(|bytes| bytes == words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_all_of_it_has_come() {
        let answer = b"HTTP/1.1 201 Created\r\nx-a: b\r\nContent-Length: 2\r\n\r\n{}";
        for cut in 0..answer.len() - 2 {
            assert_eq!(Head::read(&answer[..cut]).unwrap(), None);
        }
        let head = Head { status: 201, body_at: answer.len() - 2, body_bytes: 2 };
        assert_eq!(Head::read(answer).unwrap(), Some(head));
    }

    #[test]
    fn an_answer_of_unknown_length_is_refused() {
        assert!(Head::read(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
        assert!(Head::read(b"HTTP/1.1 OK\r\ncontent-length: 2\r\n\r\n").is_err());
    }

    #[test]
    fn another_status_than_expected_is_told_with_what_was_said() {
        let answer = Answer { status: 503, body: b"busy" };
        assert_eq!(answer.expect(201).unwrap_err().to_string(), "the server answered 503: busy");
    }
}
