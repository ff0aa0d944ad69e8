//! Somebody outside who is told things by webhooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use abide_testkit::receiver::{self, Received, answer};
use hyper::HeaderMap;
use serde_json::Value;
use standardwebhooks::Webhook;

pub(crate) struct Receiver {
    receiver: receiver::Receiver,
    status: Arc<AtomicU16>,
}

pub(crate) struct Call(pub(crate) Received);

impl Call {
    pub(crate) fn id(&self) -> String {
        self.0.header("webhook-id").unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        self.0.json()
    }

    fn headers(&self) -> HeaderMap {
        let parsed = |(name, value): (&str, &str)| (name.parse().unwrap(), value.parse().unwrap());
        self.0.headers().map(parsed).collect::<HeaderMap>()
    }

    /// As the library that receivers use sees it, by its own clock.
    pub(crate) fn is_signed(&self, secret: &str) -> bool {
        let webhook = Webhook::new(secret).unwrap();
        webhook.verify(self.0.body.as_bytes(), &self.headers()).is_ok()
    }
}

impl Receiver {
    pub(crate) async fn start() -> Receiver {
        let status = Arc::new(AtomicU16::new(200));
        let said = Arc::clone(&status);
        let receiver = receiver::Receiver::start(move |_| match said.load(Ordering::SeqCst) {
            status @ ..300 => answer(&format!("{status} Fine"), "thank you"),
            status => answer(&format!("{status} No"), "not now"),
        });
        Receiver { receiver: receiver.await, status }
    }

    pub(crate) fn url(&self) -> String {
        self.receiver.url("/hook")
    }

    pub(crate) fn answer(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// The calls that came since the last time.
    pub(crate) fn take(&self) -> Vec<Call> {
        self.receiver.take().into_iter().map(Call).collect()
    }
}
