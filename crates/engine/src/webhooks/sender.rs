//! The sender: takes due deliveries from the outbox, calls, and stores the results. It holds nothing that is not in
//! the store, so it can stop at any point and another takes its place.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use abide_calls::http::Client;
use abide_calls::vault::Vault;
use abide_core::id::{DeliveryId, WebhookId};
use abide_core::random::Random;
use abide_core::time::Millis;
use abide_store::{AttemptWrite, DeliveryStatus, Disabled, Health, Store, Webhook};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::backoff::next_attempt;
use super::call::{Called, Verdict, call};
use super::{LONG_FAILURE, Linking, Wake};
use crate::clock::Clock;
use crate::error::Error;
use crate::readers::Readers;
use crate::request::{Answer, Control, Request};

/// How many calls are under way at the same time, so that a slow webhook does not hold up the others.
const CALLS: usize = 64;
const CALLS_OF_ONE: usize = 8;
/// How many attempts the log of a delivery shows.
const LOG: usize = 20;
/// How often the wall clock, which may jump, is read while something is left to do.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// When the store is tried again after an error.
const TROUBLE: Millis = Millis(1_000);

pub(crate) struct Sender {
    wakes: mpsc::UnboundedReceiver<Wake>,
    readers: Arc<Readers>,
    queue: mpsc::WeakSender<Request>,
    clock: Arc<dyn Clock>,
    client: Client,
    /// Opens the secrets that calls are signed with.
    vault: Vault,
    linking: Linking,
    random: Random,
    /// When the next delivery to each webhook is due.
    next: BTreeMap<WebhookId, Timestamp>,
    out: HashMap<WebhookId, HashSet<DeliveryId>>,
    calls: JoinSet<Called>,
    settling: Vec<Answer<Option<Timestamp>>>,
}

impl Sender {
    pub(crate) fn new(
        wakes: mpsc::UnboundedReceiver<Wake>,
        readers: Arc<Readers>,
        queue: mpsc::WeakSender<Request>,
        clock: Arc<dyn Clock>,
        (client, vault, linking): (Client, Vault, Linking),
        seed: u64,
    ) -> Sender {
        Sender {
            wakes,
            readers,
            queue,
            clock,
            client,
            vault,
            linking,
            random: Random::new(seed),
            next: BTreeMap::new(),
            out: HashMap::new(),
            calls: JoinSet::new(),
            settling: Vec::new(),
        }
    }

    pub(crate) async fn live(mut self) {
        loop {
            self.send_due().await;
            self.answer_settled();
            let sleep = self.time_to_sleep();
            tokio::select! {
                wake = self.wakes.recv() => match wake {
                    Some(wake) => self.hear(wake),
                    None => return,
                },
                Some(called) = self.calls.join_next() => {
                    let more = std::iter::from_fn(|| self.calls.try_join_next());
                    // A call that panicked is tried again when its time comes.
                    let called: Vec<Called> =
                        std::iter::once(called).chain(more).filter_map(Result::ok).collect();
                    self.note(called).await;
                }
                () = tokio::time::sleep(sleep.unwrap_or_default()), if sleep.is_some() => {}
            }
        }
    }

    fn hear(&mut self, wake: Wake) {
        match wake {
            Wake::LookAt(webhooks) => {
                self.next.extend(webhooks.into_iter().map(|webhook| (webhook, Timestamp::MIN)));
            }
            Wake::Settle(answer) => self.settling.push(answer),
        }
    }

    fn has_room(&self, webhook: WebhookId) -> bool {
        self.calls.len() < CALLS && self.out.get(&webhook).map_or(0, HashSet::len) < CALLS_OF_ONE
    }

    async fn send_due(&mut self) {
        let now = self.clock.now();
        let due = self.next.iter().filter(|(_, at)| **at <= now).map(|(webhook, _)| *webhook);
        for webhook in due.collect::<Vec<_>>() {
            if self.has_room(webhook)
                && let Err(error) = self.send_to(webhook, now).await
            {
                tracing::error!(%webhook, %error, "what a webhook is to be told could not be read");
                self.next.insert(webhook, TROUBLE.after(now));
            }
        }
    }

    async fn send_to(&mut self, id: WebhookId, now: Timestamp) -> Result<(), Error> {
        let out = self.out.get(&id).cloned().unwrap_or_default();
        // One more than there can be calls: it says when to look again.
        let most = CALLS_OF_ONE + 1;
        let linking = self.linking.clone();
        let looked_up = self.readers.read(None, move |store| {
            let Some(webhook) = store.webhook(id)? else { return Ok(None) };
            let due = store.due_deliveries(id, Timestamp::MAX, most + CALLS_OF_ONE)?;
            let mut told = Vec::with_capacity(due.len());
            for delivery in due {
                let body = linking.body(store, webhook.workspace, &delivery)?;
                told.push((delivery, body));
            }
            Ok(Some((webhook, told)))
        });
        let looked_up = looked_up.await?;
        self.next.remove(&id);
        let Some((webhook, due)) = looked_up else { return Ok(()) };
        for (delivery, body) in due.into_iter().filter(|(delivery, _)| !out.contains(&delivery.id)) {
            let awaited = self.linking.is_awaited(delivery.topic).then(|| TROUBLE.after(now));
            let at = awaited.or(delivery.next_attempt_at).unwrap_or(now);
            if at > now || !self.has_room(id) {
                self.next.insert(id, at);
                break;
            }
            self.out.entry(id).or_default().insert(delivery.id);
            let (client, vault) = (self.client.clone(), self.vault.clone());
            self.calls.spawn(call(client, vault, webhook.clone(), (delivery, body), now));
        }
        Ok(())
    }

    /// Stores the results of calls, all in one go.
    async fn note(&mut self, called: Vec<Called>) {
        let now = self.clock.now();
        let mut ends: BTreeMap<WebhookId, (Verdict, Timestamp)> = BTreeMap::new();
        let mut writes = Vec::new();
        for Called { mut delivery, attempt, verdict } in called {
            let of_webhook = ends.entry(delivery.webhook).or_insert((verdict, attempt.at));
            // One that was received says that the webhook is there, whatever became of the others.
            if of_webhook.0 != Verdict::Received {
                of_webhook.0 = verdict;
            }
            let based_on = delivery.attempts;
            delivery.attempts += 1;
            delivery.log.push(attempt);
            delivery.log.drain(..delivery.log.len().saturating_sub(LOG));
            let again = next_attempt(delivery.attempts, now, self.random.draw());
            (delivery.status, delivery.next_attempt_at) = match (verdict, again) {
                (Verdict::Received, _) => (DeliveryStatus::Delivered, None),
                (Verdict::NotReceived | Verdict::Gone, None) => (DeliveryStatus::Failed, None),
                (Verdict::NotReceived | Verdict::Gone, Some(at)) => (DeliveryStatus::Pending, Some(at)),
            };
            writes.push(AttemptWrite { based_on, delivery });
        }
        let done: Vec<(WebhookId, DeliveryId)> =
            writes.iter().map(|write| (write.delivery.webhook, write.delivery.id)).collect();
        let written = self.write(move |store| write_down(store, &writes, &ends, now)).await;
        let look_at = if written.is_ok() { Timestamp::MIN } else { TROUBLE.after(now) };
        for (webhook, delivery) in done {
            if let Some(out) = self.out.get_mut(&webhook) {
                out.remove(&delivery);
                if out.is_empty() {
                    self.out.remove(&webhook);
                }
            }
            self.next.insert(webhook, look_at);
        }
        match written {
            Ok(Noted { disabled: true }) => self.tell_writer().await,
            Ok(Noted { disabled: false }) | Err(Error::Stopped) => {}
            // What is not noted is sent again.
            Err(error) => tracing::error!(%error, "what came of calls to webhooks could not be noted"),
        }
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&mut dyn Store) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let queue = self.queue.upgrade().ok_or(Error::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let write = Box::new(move |store: &mut dyn Store| {
            drop(answer.send(write(store).map_err(Error::from)));
        });
        queue.send(Control::Write(write).into()).await.map_err(|_| Error::Stopped)?;
        answered.await.map_err(|_| Error::Stopped)?
    }

    /// Tells the writer that a webhook was disabled.
    async fn tell_writer(&self) {
        if let Some(queue) = self.queue.upgrade() {
            let (answer, looked_up) = oneshot::channel();
            if queue.send(Control::WebhooksChanged { answer }.into()).await.is_ok() {
                drop(looked_up.await);
            }
        }
    }

    fn answer_settled(&mut self) {
        let now = self.clock.now();
        let next = self.next.values().copied().min();
        if self.calls.is_empty() && next.is_none_or(|at| at > now) {
            for answer in self.settling.drain(..) {
                drop(answer.send(Ok(next)));
            }
        }
    }

    /// How long until the next attempt is due; `None` if nothing is left to do, or time does not pass by itself.
    fn time_to_sleep(&self) -> Option<Duration> {
        let now = self.clock.now();
        let waiting = self.next.iter().filter(|(webhook, _)| self.has_room(**webhook));
        let next = waiting.map(|(_, at)| *at).min().filter(|_| self.clock.runs())?;
        Some(Duration::from_millis(Millis::between(now, next).0).min(LONGEST_SLEEP))
    }
}

#[derive(Clone, Copy, Debug)]
struct Noted {
    /// Whether a webhook was disabled.
    disabled: bool,
}

fn write_down(
    store: &mut dyn Store,
    writes: &[AttemptWrite],
    ends: &BTreeMap<WebhookId, (Verdict, Timestamp)>,
    now: Timestamp,
) -> Result<Noted, abide_store::Error> {
    store.put_attempts(writes)?;
    let mut noted = Noted { disabled: false };
    for (id, (verdict, at)) in ends {
        let Some(Webhook { health, .. }) = store.webhook(*id)? else { continue };
        let after = health_after(&health, *verdict, *at, now);
        if after != health {
            noted.disabled |= after.disabled.is_some() && health.disabled.is_none();
            store.put_health(*id, &after, now)?;
        }
    }
    Ok(noted)
}

fn health_after(health: &Health, verdict: Verdict, at: Timestamp, now: Timestamp) -> Health {
    let failing_since = match verdict {
        Verdict::Received => None,
        Verdict::NotReceived | Verdict::Gone => Some(health.failing_since.unwrap_or(at)),
    };
    let why = match (verdict, failing_since) {
        (Verdict::Gone, _) => Some("it answered 410 Gone".to_owned()),
        (_, Some(since)) if LONG_FAILURE.after(since) <= now => {
            Some(format!("every attempt has failed since {since}"))
        }
        (Verdict::Received | Verdict::NotReceived, _) => None,
    };
    let disabled = why.map(|why| Disabled { at: now, why });
    Health { failing_since, disabled: health.disabled.clone().or(disabled) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_disabled_when_nothing_has_reached_it_for_long_or_nobody_is_there() {
        let since = Timestamp::UNIX_EPOCH;
        let fresh = Health::default();
        let failing = health_after(&fresh, Verdict::NotReceived, since, since);
        assert_eq!(failing, Health { failing_since: Some(since), disabled: None });
        let almost = Millis(LONG_FAILURE.0 - 1).after(since);
        assert_eq!(health_after(&failing, Verdict::NotReceived, almost, almost), failing);
        assert_eq!(health_after(&failing, Verdict::Received, almost, almost), fresh);
        let late = LONG_FAILURE.after(since);
        let disabled = health_after(&failing, Verdict::NotReceived, late, late).disabled.expect("disabled");
        assert_eq!(disabled.why, "every attempt has failed since 1970-01-01T00:00:00Z");
        let gone = health_after(&fresh, Verdict::Gone, since, since).disabled.expect("disabled");
        assert_eq!(gone.why, "it answered 410 Gone");
    }

    #[test]
    fn what_comes_in_after_it_was_disabled_does_not_enable_it() {
        let disabled = Some(Disabled { at: Timestamp::UNIX_EPOCH, why: "no".to_owned() });
        let health = Health { failing_since: None, disabled };
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(health_after(&health, Verdict::Received, now, now), health);
    }
}
