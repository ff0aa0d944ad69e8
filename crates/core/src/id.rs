//! Public ids. A run's id is a UUIDv7 in base32; a waitpoint's and a task's id begin with their run's, so that
//! either leads to its run without an index. Workspaces are few and are counted.

mod owner;

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

pub use owner::Owner;

/// `run_…`: the id of a run, a UUIDv7, so that ids sort by time of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u128);

/// `wp_…_7`: the id of a waitpoint, here the seventh of its run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitpointId {
    /// The run, or the schedule, that waits; [`WaitpointId::owner`] says which.
    pub run: RunId,
    /// The number of the waitpoint in its run, from 1.
    pub number: u32,
}

/// `evt_…`: the number of one event, as distinct from the event id that its sender and its waiters name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventUid(pub u128);

/// `def_…`: the id of one version of a workflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(pub u128);

/// `key_…`: the id of an API key, not the secret that it stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u128);

/// `whk_…`: the id of a webhook, an outgoing subscription.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebhookId(pub u128);

/// `msg_…`: the id of one delivery to a webhook. It is the same at every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(pub u128);

/// `sch_…`: the id of a schedule. Ids of its waits look like those of a run's; the UUID's version tells the two
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScheduleId(pub u128);

/// `lim_…`: the id of one key of a limit, made of the workspace, the names and the key, so that nothing has to be looked up
/// to find it. The UUID's version tells it from runs and schedules, which own timers as it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LimitId(pub u128);

/// `ws_0`: the id of a workspace, a tenant whose runs, definitions and events are apart from those of every other.
/// The default one has number 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceId(pub u32);

/// `task_…_3` or `task_…_3_14`: the id of a task: a step of a run, or one item of a map step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The run that the task is a part of.
    pub run: RunId,
    /// The address of the task's step.
    pub at: StepAddress,
}

/// The address of a step run: a step by its index in the definition or, in a `map`, one item of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepAddress {
    /// The index of the step in the definition, from 0.
    pub step: u16,
    /// The index of the item in the list of a map, from 0; `None`: the step itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
}

impl StepAddress {
    /// The address of a step.
    pub const fn step(step: u16) -> StepAddress {
        StepAddress { step, item: None }
    }

    /// The address of an item of a map step.
    pub const fn item(step: u16, item: u32) -> StepAddress {
        StepAddress { step, item: Some(item) }
    }
}

impl fmt::Debug for StepAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            None => write!(f, "#{}", self.step),
            Some(item) => write!(f, "#{}[{item}]", self.step),
        }
    }
}

/// A UUIDv7 of the instant and 74 of the given bits.
fn uuid_v7(now: Timestamp, random: u128) -> u128 {
    let ms = u128::try_from(now.as_millisecond()).unwrap_or(0) & ((1 << 48) - 1);
    let high = (random >> 62) & ((1 << 12) - 1);
    let low = random & ((1 << 62) - 1);
    ms << 80 | 7 << 76 | high << 64 | 2 << 62 | low
}

impl WorkspaceId {
    /// The default workspace, which every store has.
    pub const DEFAULT: WorkspaceId = WorkspaceId(0);

    pub(crate) fn is_default(&self) -> bool {
        *self == WorkspaceId::DEFAULT
    }
}

/// The bits that hold the version of a UUID: 7 for ids by time, 8 for those of schedules, 5 for those made of names.
const VERSION: u128 = 0xF << 76;

impl ScheduleId {
    /// A fresh schedule id: of this instant, and otherwise random.
    pub fn new(now: Timestamp, random: u128) -> ScheduleId {
        ScheduleId(uuid_v7(now, random) & !VERSION | 8 << 76)
    }

    /// The schedule, as the owner of its waits, timers and holds.
    pub fn owner(self) -> Owner {
        Owner::Schedule(self)
    }

    /// The id of the waitpoint of this number.
    pub fn waitpoint(self, number: u32) -> WaitpointId {
        self.owner().waitpoint(number)
    }
}

impl LimitId {
    /// The turn of those in a line that ask for no key of another limit. No limit has this id.
    pub const NO_GROUP: LimitId = LimitId(0);

    /// The id of a key of a limit: of one workflow, or of all that name it.
    pub fn of(workspace: WorkspaceId, workflow: Option<&str>, name: &str, key: &str) -> LimitId {
        LimitId::of_parts(workspace, &[workflow.unwrap_or_default(), name, key])
    }

    /// The id of what is set for a limit, for all of its keys.
    pub fn of_settings(workspace: WorkspaceId, workflow: Option<&str>, name: &str) -> LimitId {
        LimitId::of_parts(workspace, &[workflow.unwrap_or_default(), name])
    }

    fn of_parts(workspace: WorkspaceId, parts: &[&str]) -> LimitId {
        let mut hash = Sha256::new();
        hash.update(workspace.0.to_be_bytes());
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize();
        let half = hash.first_chunk().expect("a hash of 32 bytes");
        LimitId(u128::from_be_bytes(*half) & !VERSION | 5 << 76)
    }

    /// The limit, as the owner of its timer.
    pub fn owner(self) -> Owner {
        Owner::Limit(self)
    }
}

impl WaitpointId {
    /// The run or the schedule that waits.
    pub fn owner(self) -> Owner {
        Owner::of(self.run)
    }
}

impl RunId {
    /// The millisecond in which the id was made, which is not after the run was created unless the clock went back.
    pub fn made_at(self) -> Timestamp {
        let ms = i64::try_from(self.0 >> 80).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
    }

    /// The id of the waitpoint of this number.
    pub fn waitpoint(self, number: u32) -> WaitpointId {
        WaitpointId { run: self, number }
    }

    /// The id of the task at a step address.
    pub fn task(self, at: StepAddress) -> TaskId {
        TaskId { run: self, at }
    }
}

/// A text that is no id of the kind that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an id of the form {form}")]
pub struct BadId {
    given: String,
    form: &'static str,
}

impl BadId {
    fn new(given: &str, form: &'static str) -> BadId {
        BadId { given: given.chars().take(64).collect(), form }
    }
}

/// Crockford's alphabet in lower case: no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BASE32_CHARS: usize = 26;

fn encode(id: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for place in (0..BASE32_CHARS).rev() {
        let digit = (id >> (place * 5)) & 31;
        fmt::Write::write_char(f, char::from(ALPHABET[digit as usize]))?;
    }
    Ok(())
}

fn decode(text: &str) -> Option<u128> {
    // The first of 26 digits holds the top 3 of 128 bits.
    if text.len() != BASE32_CHARS || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0_u128, |id, byte| {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        Some(id << 5 | digit as u128)
    })
}

macro_rules! uuids {
    ($($id:ident),*) => {$(
        impl $id {
            /// A fresh id: of this instant, and otherwise random.
            pub fn new(now: Timestamp, random: u128) -> $id {
                $id(uuid_v7(now, random))
            }
        }
    )*};
}

macro_rules! prefixed {
    ($($id:ident $prefix:literal),*) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                encode(self.0, f)
            }
        }

        impl FromStr for $id {
            type Err = BadId;

            fn from_str(text: &str) -> Result<$id, BadId> {
                let id = text.strip_prefix($prefix).and_then(decode).map($id);
                id.ok_or_else(|| BadId::new(text, concat!($prefix, "…")))
            }
        }
    )*};
}

uuids!(RunId, EventUid, DefinitionId, KeyId, WebhookId, DeliveryId);
prefixed!(
    RunId "run_",
    EventUid "evt_",
    DefinitionId "def_",
    KeyId "key_",
    WebhookId "whk_",
    DeliveryId "msg_",
    ScheduleId "sch_",
    LimitId "lim_"
);

impl fmt::Display for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws_{}", self.0)
    }
}

impl fmt::Display for WaitpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wp_")?;
        encode(self.run.0, f)?;
        write!(f, "_{}", self.number)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task_")?;
        encode(self.run.0, f)?;
        write!(f, "_{}", self.at.step)?;
        self.at.item.map_or(Ok(()), |item| write!(f, "_{item}"))
    }
}

impl FromStr for WorkspaceId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<WorkspaceId, BadId> {
        let number = text.strip_prefix("ws_").and_then(canonical);
        number.map(WorkspaceId).ok_or_else(|| BadId::new(text, "ws_0"))
    }
}

impl FromStr for WaitpointId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<WaitpointId, BadId> {
        let parse = || {
            let (run, number) = text.strip_prefix("wp_")?.split_once('_')?;
            Some(WaitpointId { run: RunId(decode(run)?), number: canonical(number)? })
        };
        parse().ok_or_else(|| BadId::new(text, "wp_…_1"))
    }
}

impl FromStr for TaskId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<TaskId, BadId> {
        let parse = || {
            let mut parts = text.strip_prefix("task_")?.split('_');
            let run = RunId(decode(parts.next()?)?);
            let step = canonical(parts.next()?)?;
            let item = parts.next().map(|item| canonical(item).ok_or(())).transpose().ok()?;
            parts.next().is_none().then_some(TaskId { run, at: StepAddress { step, item } })
        };
        parse().ok_or_else(|| BadId::new(text, "task_…_0"))
    }
}

/// A number written in the one way we write it, so that an id has a single spelling.
fn canonical<N: FromStr + ToString>(text: &str) -> Option<N> {
    text.parse::<N>().ok().filter(|number| number.to_string() == text)
}

macro_rules! as_text {
    ($($id:ty),*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text!(
    RunId,
    EventUid,
    DefinitionId,
    KeyId,
    WebhookId,
    DeliveryId,
    ScheduleId,
    LimitId,
    WorkspaceId,
    WaitpointId,
    TaskId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back_as_they_are_shown() {
        let run = RunId::new(Timestamp::UNIX_EPOCH, u128::MAX);
        assert_eq!(run.to_string().parse(), Ok(run));
        let waitpoint = run.waitpoint(7);
        assert_eq!(waitpoint.to_string().parse(), Ok(waitpoint));
        for task in [run.task(StepAddress::step(3)), run.task(StepAddress::item(3, 14))] {
            assert_eq!(task.to_string().parse(), Ok(task));
        }
        let (definition, key) = (DefinitionId(7), KeyId(u128::MAX));
        assert_eq!(definition.to_string().parse(), Ok(definition));
        assert_eq!(key.to_string().parse(), Ok(key));
        for workspace in [WorkspaceId::DEFAULT, WorkspaceId(7), WorkspaceId(u32::MAX)] {
            assert_eq!(workspace.to_string().parse(), Ok(workspace));
        }
    }

    #[test]
    fn a_wait_of_a_schedule_is_told_from_that_of_a_run() {
        let now = Timestamp::from_millisecond(1_000).unwrap();
        for random in [0, u128::MAX, 7] {
            let schedule = ScheduleId::new(now, random);
            assert_eq!(schedule.waitpoint(3).owner(), Owner::Schedule(schedule));
            let run = RunId::new(now, random);
            assert_eq!(run.waitpoint(3).owner(), Owner::Run(run));
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
            for owner in [schedule.owner(), Owner::Run(run)] {
                assert_eq!((owner.to_string().parse(), Owner::of(owner.id())), (Ok(owner), owner));
            }
        }
    }

    #[test]
    fn an_id_has_one_spelling() {
        let run = RunId(0).to_string();
        for other in
            ["", "run_", "run_0", &run.to_uppercase(), &format!("{run}0"), "run_z0000000000000000000000000"]
        {
            assert!(other.parse::<RunId>().is_err(), "{other}");
        }
        let body = run.trim_start_matches("run_");
        assert!(format!("wp_{body}_01").parse::<WaitpointId>().is_err());
        assert!(format!("wp_{body}_+1").parse::<WaitpointId>().is_err());
        assert!(format!("task_{body}_1_2_3").parse::<TaskId>().is_err());
        for other in ["0", "ws_", "ws_01", "ws_-1", "ws_4294967296", "WS_0"] {
            assert!(other.parse::<WorkspaceId>().is_err(), "{other}");
        }
    }

    #[test]
    fn ids_sort_by_the_time_of_creation() {
        let early = RunId::new(Timestamp::from_millisecond(1_000).unwrap(), u128::MAX);
        let late = RunId::new(Timestamp::from_millisecond(1_001).unwrap(), 0);
        assert!(early < late && early.to_string() < late.to_string());
    }
}
