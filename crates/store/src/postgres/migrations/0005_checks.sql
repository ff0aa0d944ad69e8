-- A sum over the chunks of a run's history, compared when it is loaded. Null: nobody has added them up.
ALTER TABLE runs ADD COLUMN sum bigint;

-- Runs and schedules that nothing is decided about until somebody lets them go.
CREATE TABLE held (
    id        uuid   NOT NULL PRIMARY KEY,
    workspace bigint,
    held_at   bigint NOT NULL,
    held_by   text   NOT NULL,
    reason    text   NOT NULL
);

-- Runs and schedules that took long to decide, and how often a process ended in their middle.
CREATE TABLE suspects (
    id     uuid   NOT NULL PRIMARY KEY,
    node   uuid,
    deaths bigint NOT NULL
);
