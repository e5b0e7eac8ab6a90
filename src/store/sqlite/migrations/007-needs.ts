/**
 * Who acts next on a turn (`domain/needs.ts`), instead of whether a runner may drive it. A lease remembers the need that it
 * was claimed for, and how long it lasts without renewal.
 */
export const needs = `
  DROP INDEX turns_claimable;
  ALTER TABLE turns ADD COLUMN needs TEXT;
  ALTER TABLE turns ADD COLUMN serves TEXT;
  ALTER TABLE turns ADD COLUMN lasts_ms REAL;
  UPDATE turns SET needs = 'drive' WHERE status = 'running' AND parked = 0;
  UPDATE turns SET serves = 'drive', lasts_ms = 6000 WHERE until IS NOT NULL;
  ALTER TABLE turns DROP COLUMN parked;
  CREATE INDEX turns_claimable ON turns (needs, until) WHERE needs IS NOT NULL;
  CREATE INDEX turns_served ON turns (serves) WHERE serves IS NOT NULL;
`
