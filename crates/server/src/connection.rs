//! A connection as the server reads and writes it: what strangers send is counted, and a client that does not take its
//! answer is let go.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::strangers::Visitor;

/// What a client that is slow to read must take of an answer in each `write_time`.
const LEAST_TAKEN: usize = 16 * 1024;

pub(crate) struct Connection {
    stream: TcpStream,
    visitor: Arc<Visitor>,
    write_time: Duration,
    /// Since the client took less than there was, until it has taken everything.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Meanwhile.
    taken: usize,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, visitor: Arc<Visitor>, write_time: Duration) -> Connection {
        Connection { stream, visitor, write_time, stalled: None, taken: 0 }
    }

    fn wrote(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.taken += bytes;
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let error = ready!(self.poll_stalled(context));
                Poll::Ready(Err(error))
            }
        }
    }

    fn poll_stalled(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let Connection { write_time, stalled, taken, .. } = self;
        let stalled = stalled.get_or_insert_with(|| {
            *taken = 0;
            Box::pin(tokio::time::sleep(*write_time))
        });
        loop {
            ready!(stalled.as_mut().poll(context));
            if *taken < LEAST_TAKEN {
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the client does not read"));
            }
            *taken = 0;
            stalled.as_mut().reset(Instant::now() + *write_time);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if self.visitor.sent(buffer.filled().len() - before) {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(Err(io::Error::other("strangers have sent too much")))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Asked for when all there was is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stalled = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
