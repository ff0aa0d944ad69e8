//! The schema's versions: numbered files, forward only. The table `migrations` says which ones were applied.
//!
//! Nodes are replaced one by one, so a new version is applied beside nodes that only know the one before. What it adds
//! must have a default, and what it removes must have been out of use for a version.

use crate::Error;
use crate::postgres::connection::Session;
use crate::row::RowReader;

struct Migration {
    sql: &'static str,
    /// Programs that know the schema up to this version can work on it, too.
    oldest: i64,
}

/// In order; the first is version 1. A file that was released is never changed.
const MIGRATIONS: [Migration; 12] = [
    Migration { sql: include_str!("migrations/0001_first.sql"), oldest: 1 },
    Migration { sql: include_str!("migrations/0002_audit.sql"), oldest: 1 },
    // A node that leaves nothing for later rounds does not look at what others left.
    Migration { sql: include_str!("migrations/0003_follow_ups.sql"), oldest: 3 },
    // A node of before would forget what is to be kept.
    Migration { sql: include_str!("migrations/0004_kept.sql"), oldest: 4 },
    // One that does not know of sums would append without adding up.
    Migration { sql: include_str!("migrations/0005_checks.sql"), oldest: 5 },
    // The same of bytes.
    Migration { sql: include_str!("migrations/0006_stored_bytes.sql"), oldest: 6 },
    // A node of before knows no waits for other code.
    Migration { sql: include_str!("migrations/0007_code.sql"), oldest: 7 },
    Migration { sql: include_str!("migrations/0008_refusals.sql"), oldest: 7 },
    // A node of before would leave the snapshot of a run that it forgets.
    Migration { sql: include_str!("migrations/0009_snapshots.sql"), oldest: 9 },
    // A node of before would not give back the room of a run that it ends.
    Migration { sql: include_str!("migrations/0010_limits.sql"), oldest: 10 },
    // A node of before starts no runs on events.
    Migration { sql: include_str!("migrations/0011_event_starts.sql"), oldest: 11 },
    // A node of before does not do as limits are set, and cannot read a wait that keeps room.
    Migration { sql: include_str!("migrations/0012_limit_settings.sql"), oldest: 12 },
];

/// A node that was seen so lately may be at work.
const SEEN_US: i64 = 10_000_000;

/// "abide": those who migrate wait for each other.
const LOCK: i64 = 0x61_6269_6465;

pub(super) fn latest() -> i64 {
    i64::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// Whether there are migrations to apply after which those who know only this version could not go on.
pub(super) fn leave_behind(version: i64) -> bool {
    (1..).zip(&MIGRATIONS).any(|(number, migration)| number > version && migration.oldest > version)
}

/// What a database says of itself.
pub(super) struct Mark {
    /// Whether there is anything under our name.
    pub(super) is_taken: bool,
    /// Whether the database says that it is ours.
    pub(super) is_ours: bool,
    pub(super) version: i64,
    /// The version that one has to know to work on it.
    pub(super) oldest: i64,
    /// How many nodes were seen in the last ten seconds.
    pub(super) nodes: i64,
}

impl Mark {
    pub(super) async fn read(session: &mut Session) -> Result<Mark, Error> {
        let sql = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('abide')),
            to_regclass('abide.migrations') IS NOT NULL";
        let row = session.one(sql, &[]).await?;
        let (is_taken, is_ours) = (row.try_get(0)?, row.try_get(1)?);
        let (version, oldest, nodes) = match is_ours {
            true => {
                let sql = "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0), (SELECT count(*) FROM nodes
                    WHERE seen_at > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1) FROM migrations";
                let row = session.one(sql, &[&SEEN_US]).await?;
                (row.number(0)?, row.number(1)?, row.number(2)?)
            }
            false => (0, 0, 0),
        };
        Ok(Mark { is_taken, is_ours, version, oldest, nodes })
    }
}

/// Brings the database from its version to the latest, in one transaction. Of those who try at the same time, one
/// does, and the others find it done. Nothing is written to a database that `check` refuses.
pub(super) async fn migrate(
    session: &mut Session,
    check: impl Fn(&Mark) -> Result<(), Error>,
) -> Result<(), Error> {
    let mark = Mark::read(session).await?;
    check(&mark)?;
    if mark.version >= latest() {
        return Ok(());
    }
    session
        .transaction("BEGIN", async |session| {
            session.rows("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
            let mark = Mark::read(session).await?;
            check(&mark)?;
            if !mark.is_ours {
                let begin = "CREATE SCHEMA IF NOT EXISTS abide;
                    CREATE TABLE migrations (version bigint NOT NULL PRIMARY KEY, applied_at timestamptz NOT NULL,
                        oldest bigint NOT NULL)";
                session.run(begin).await?;
            }
            for (number, migration) in (1_i64..).zip(MIGRATIONS).filter(|(number, _)| *number > mark.version) {
                let Migration { sql, oldest } = migration;
                session.run(sql).await?;
                let note = format!("INSERT INTO migrations VALUES ({number}, now(), {oldest})");
                session.run(&note).await?;
            }
            Ok(())
        })
        .await
}
