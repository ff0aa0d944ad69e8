//! Reading a row, whichever database it is of: what differs is how a value stands in a column, and not what it means.

use std::collections::BTreeSet;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use abide_core::webhook_message::Topic;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::{DeliveryStatus, Error, Scope, code};

/// The columns of a row, by their place. A database says how it stores them; all else follows.
pub(crate) trait RowReader {
    fn id(&self, index: usize) -> Result<u128, Error>;
    fn optional_id(&self, index: usize) -> Result<Option<u128>, Error>;
    fn integer(&self, index: usize) -> Result<i64, Error>;
    fn optional_integer(&self, index: usize) -> Result<Option<i64>, Error>;
    /// The number of a status or a kind of wait, which a database may keep in less room than others.
    fn code(&self, index: usize) -> Result<i64, Error>;
    /// A text that may hold any character.
    fn name(&self, index: usize) -> Result<String, Error>;
    fn optional_name(&self, index: usize) -> Result<Option<String>, Error>;
    /// A text as it is stored: JSON, or what is made of it.
    fn optional_text(&self, index: usize) -> Result<Option<&str>, Error>;
    fn bytes(&self, index: usize) -> Result<&[u8], Error>;

    fn text(&self, index: usize) -> Result<&str, Error> {
        self.optional_text(index)?.ok_or_else(|| Error::Corrupt("a text that is not there".to_owned()))
    }

    fn number<N: TryFrom<i64>>(&self, index: usize) -> Result<N, Error> {
        in_range(self.integer(index)?)
    }

    fn optional_number<N: TryFrom<i64>>(&self, index: usize) -> Result<Option<N>, Error> {
        self.optional_integer(index)?.map(in_range).transpose()
    }

    fn instant(&self, index: usize) -> Result<Timestamp, Error> {
        self.integer(index).map(code::read_instant)
    }

    fn optional_instant(&self, index: usize) -> Result<Option<Timestamp>, Error> {
        Ok(self.optional_integer(index)?.map(code::read_instant))
    }

    fn run(&self, index: usize) -> Result<RunId, Error> {
        self.id(index).map(RunId)
    }

    fn optional_run(&self, index: usize) -> Result<Option<RunId>, Error> {
        Ok(self.optional_id(index)?.map(RunId))
    }

    fn workspace(&self, index: usize) -> Result<WorkspaceId, Error> {
        self.number(index).map(WorkspaceId)
    }

    fn scopes(&self, index: usize) -> Result<BTreeSet<Scope>, Error> {
        self.integer(index).map(code::read_scopes)
    }

    fn run_status(&self, index: usize) -> Result<RunStatus, Error> {
        code::read(self.code(index)?, &RunStatus::ALL, code::run_status)
    }

    fn wait_status(&self, index: usize) -> Result<WaitStatus, Error> {
        code::read(self.code(index)?, &code::WAIT_STATUSES, code::wait_status)
    }

    fn kind(&self, index: usize) -> Result<Kind, Error> {
        code::read(self.code(index)?, &Kind::ALL, code::kind)
    }

    fn topic(&self, index: usize) -> Result<Topic, Error> {
        code::read(self.integer(index)?, &Topic::ALL, code::topic)
    }

    fn topics(&self, index: usize) -> Result<BTreeSet<Topic>, Error> {
        self.integer(index).map(code::read_topics)
    }

    fn delivery_status(&self, index: usize) -> Result<DeliveryStatus, Error> {
        code::read(self.integer(index)?, &DeliveryStatus::ALL, code::delivery_status)
    }

    fn hash(&self, index: usize) -> Result<[u8; 32], Error> {
        let hash = self.bytes(index)?.try_into();
        hash.map_err(|_| Error::Corrupt("a hash of the wrong length".to_owned()))
    }

    fn json<T: DeserializeOwned>(&self, index: usize) -> Result<T, Error> {
        parse(self.text(index)?)
    }

    fn optional_json<T: DeserializeOwned>(&self, index: usize) -> Result<Option<T>, Error> {
        self.optional_text(index)?.map(parse).transpose()
    }
}

fn in_range<N: TryFrom<i64>>(number: i64) -> Result<N, Error> {
    N::try_from(number).map_err(|_| Error::Corrupt(format!("{number} is out of range")))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Whoever wrote it had its depth under control.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| Error::Corrupt(error.to_string()))
}
