//! Capacity: the room that a limit gives, and who has it. One key of a limit is an aggregate of its own, beside the runs:
//! it is decided and committed together with the transitions that need room or free it (R22).
//!
//! ```text
//!   run: asks ──▶ Limit::room ──▶ take: one more has room           run: goes on
//!                      └──▶ the run waits in line (a CAPACITY wait) ──▶ granted when somebody gives room back,
//!                                                                       or at the instant that a rate allows
//! ```
//!
//! A line is what the waits of runs come to, in the order of their ranks; it is not kept here. Who needs room under several
//! limits takes all of it together or none, and stands in one line at a time: that of a limit that is full.

mod ask;
mod rate;
mod settings;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::ask::{Ask, CapacityRequest, NextLine, Policy, Rank, Room};
pub use self::settings::{LimitSettings, Setting, SettingChange};
use crate::definition::is_own;
use crate::id::{LimitId, RunId, StepAddress, WorkspaceId};
use crate::limits;

/// How many of those that have room are named; more are only counted.
pub const HOLDERS_NAMED: usize = 32;
/// How many are named where more than [`HOLDERS_NAMED`] may have room: they are written with each change of the limit.
const HOLDERS_NAMED_OF_MANY: usize = 8;

/// One key of a limit: how many have room, how many wait, and from when on a rate allows the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// The id, made of the names and the key.
    pub id: LimitId,
    /// The workspace whose runs share the limit.
    pub workspace: WorkspaceId,
    /// The workflow whose runs share it; `None`: all of the workspace that name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// The name of the limit.
    pub name: Arc<str>,
    /// The key; empty where the limit has none.
    pub key: Arc<str>,
    /// The version that a commit compares and sets. It begins at random: an aggregate that is idle is forgotten, and one
    /// that is made anew is not to be taken for it.
    pub version: u64,
    /// How much room there is, as the run said that was created last.
    pub policy: Policy,
    /// When the run was created that said so.
    pub policy_of: Timestamp,
    /// What an operator has set, which stands above it.
    #[serde(default, skip_serializing_if = "Setting::is_default")]
    pub setting: Setting,
    /// The version of the settings that say so; 0: there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub set_by: u64,
    /// How many have room.
    pub used: u32,
    /// How many wait for room here.
    pub waiting: u64,
    /// Since when somebody has waited here at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<Timestamp>,
    /// The theoretical arrival time of the next one under the rate; `None`: the rate was not used lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Timestamp>,
    /// When this is to be looked at: the next in line may begin, or nothing is left to be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The runs and steps that have room, the longest first; at most [`HOLDERS_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    /// Where those in line ask for keys of another limit, too, and the keys take turns: the one that had its turn last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<LimitId>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One that has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// The run.
    pub run: RunId,
    /// The step run whose attempt has it; `None`: the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<StepAddress>,
    /// Since when.
    pub since: Timestamp,
}

/// Whether one more may have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacancy {
    /// There is room.
    Now,
    /// The rate allows it from this instant on.
    From(Timestamp),
    /// There is room when somebody gives it back.
    Full,
}

impl Limit {
    /// Whether the engine made the limit for itself, such as the one under which a run collects starts: nobody sets it.
    pub fn is_own(name: &str) -> bool {
        is_own(name)
    }

    /// A key of which nobody has room, as somebody asks for it.
    pub fn new(workspace: WorkspaceId, ask: &Ask, said_at: Timestamp, version: u64) -> Limit {
        Limit {
            id: ask.limit,
            workspace,
            workflow: ask.workflow.clone(),
            name: Arc::clone(&ask.name),
            key: Arc::clone(&ask.key),
            version,
            policy: ask.policy,
            policy_of: said_at,
            setting: Setting::default(),
            set_by: 0,
            used: 0,
            waiting: 0,
            waiting_since: None,
            arrival: None,
            due_at: None,
            holders: Vec::new(),
            turn: None,
        }
    }

    /// Takes note of how much room there is according to a run. The run that was created last is right: runs of older
    /// versions go on beside those of a newer one.
    pub fn hear(&mut self, policy: Policy, said_at: Timestamp) -> bool {
        let is_news = self.is_news(policy, said_at);
        if is_news {
            (self.policy, self.policy_of) = (policy, said_at);
        }
        is_news
    }

    /// Whether what a run says of the room differs from what is known, and the run is not older than whoever said that.
    pub fn is_news(&self, policy: Policy, said_at: Timestamp) -> bool {
        said_at >= self.policy_of && policy != self.policy
    }

    /// One more waits here, for a key of another limit, too (`group`) or not.
    pub fn join(&mut self, group: Option<LimitId>) {
        self.waiting += 1;
        if group.is_some() {
            self.turn.get_or_insert(LimitId::NO_GROUP);
        }
    }

    /// One of this group has had its turn.
    pub fn had_turn(&mut self, group: Option<LimitId>) {
        if group.is_some() || self.turn.is_some() {
            self.turn = Some(group.unwrap_or(LimitId::NO_GROUP));
        }
    }

    /// The id of what may be set for the limit, for all of its keys.
    pub fn settings_id(&self) -> LimitId {
        LimitId::of_settings(self.workspace, self.workflow.as_deref(), &self.name)
    }

    /// Takes note of what operators have set.
    pub fn obey(&mut self, settings: Option<&LimitSettings>) {
        self.setting = settings.map(|settings| settings.of_key(&self.key)).unwrap_or_default();
        self.set_by = settings.map_or(0, |settings| settings.version);
    }

    /// How much room there is: what is set, or else what definitions say.
    pub fn in_force(&self) -> Policy {
        self.setting.over(self.policy)
    }

    fn is_full(&self) -> bool {
        self.setting.paused || self.in_force().concurrency.is_some_and(|concurrency| self.used >= concurrency)
    }

    /// Whether one that asks has room now. Whether others wait before it is for the caller to see.
    pub fn vacancy(&self, ask: &Ask, now: Timestamp) -> Vacancy {
        if self.setting.paused || (ask.slot && self.is_full()) {
            return Vacancy::Full;
        }
        match self
            .in_force()
            .rate
            .filter(|_| ask.token)
            .and_then(|rate| rate::allowed_from(rate, self.arrival))
        {
            Some(from) if from > now => Vacancy::From(from),
            Some(_) | None => Vacancy::Now,
        }
    }

    /// Gives room to one that asks, whether or not there is any: whoever calls has looked, or an operator lets it in.
    pub fn take(&mut self, ask: &Ask, holder: Holder, now: Timestamp) {
        if ask.slot {
            self.used += 1;
            if self.holders.len() < self.most_named() {
                self.holders.push(holder);
            }
        }
        if let Some(rate) = self.in_force().rate.filter(|_| ask.token) {
            self.arrival = Some(rate::next_arrival(rate, self.arrival, now));
        }
    }

    fn most_named(&self) -> usize {
        match self.in_force().concurrency {
            Some(concurrency) if concurrency as usize <= HOLDERS_NAMED => HOLDERS_NAMED,
            Some(_) | None => HOLDERS_NAMED_OF_MANY,
        }
    }

    /// Whether somebody may have room: they are named, or not all are that have some.
    pub fn may_hold(&self, run: RunId, at: Option<StepAddress>) -> bool {
        let is_it = |holder: &Holder| holder.run == run && holder.at == at;
        self.holders.iter().any(is_it) || self.holders.len() as u64 != u64::from(self.used)
    }

    /// Takes room back. Where all that have room are named, one that is not has none.
    pub fn release(&mut self, run: RunId, at: Option<StepAddress>) {
        if !self.may_hold(run, at) {
            return;
        }
        let place = self.holders.iter().position(|holder| holder.run == run && holder.at == at);
        self.used = self.used.saturating_sub(1);
        if let Some(place) = place {
            self.holders.remove(place);
        }
    }

    /// Whether somebody waits here who may have room for all that is known.
    pub fn is_to_grant(&self, now: Timestamp) -> bool {
        self.waiting > 0 && self.next_from().is_some_and(|from| from <= now)
    }

    /// When the next in line may begin; `None`: when somebody gives room back.
    fn next_from(&self) -> Option<Timestamp> {
        let from = self.in_force().rate.and_then(|rate| rate::allowed_from(rate, self.arrival));
        (!self.is_full()).then(|| from.unwrap_or(Timestamp::MIN))
    }

    /// The instant from which on the rate allows the next one, if that is what is waited for; `None`: there is room, or somebody
    /// gives it back first.
    pub fn allowed_from(&self, now: Timestamp) -> Option<Timestamp> {
        self.next_from().filter(|from| *from > now)
    }

    /// Sets the timer by what has become of it. To be called after each change.
    pub fn settle(&mut self, now: Timestamp) {
        // Kept beyond its instant: a clock that goes back must not find what was used forgotten.
        let kept_until = |arrival: Timestamp| limits::RATE_KEPT.after(arrival);
        self.arrival = self.arrival.filter(|arrival| kept_until(*arrival) > now);
        self.waiting_since = (self.waiting > 0).then(|| self.waiting_since.unwrap_or(now));
        self.turn = self.turn.filter(|_| self.waiting > 0);
        self.due_at = match self.next_from().filter(|_| self.waiting > 0) {
            Some(from) => Some(from).filter(|from| *from > now),
            None if self.used == 0 && self.waiting == 0 => self.arrival.map(kept_until),
            None => None,
        };
    }

    /// Whether nothing is left to be remembered.
    pub fn is_idle(&self) -> bool {
        self.used == 0 && self.waiting == 0 && self.arrival.is_none()
    }

    /// The runs that are cancelled to make room for one more that replaces them, the longest first. Those that wait already
    /// come before it, and want as many.
    pub fn replaced(&self) -> impl Iterator<Item = RunId> {
        let room = u64::from(self.in_force().concurrency.unwrap_or(u32::MAX));
        let wanted = u64::from(self.used) + self.waiting + 1;
        // Nobody makes way for one that is not let in.
        let most = if self.setting.paused { 0 } else { wanted.saturating_sub(room) };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.holders.iter().map(|holder| holder.run).take(most)
    }
}

#[cfg(test)]
mod tests;
