/**
 * Who acts next on a turn (`domain/needs.ts`), instead of whether a runner may drive it. A lease remembers the need that it
 * was claimed for.
 */
export const needs = `
  DROP INDEX runsheet.turns_claimable;
  ALTER TABLE runsheet.turns ADD COLUMN needs text COLLATE "C", ADD COLUMN serves text COLLATE "C";
  UPDATE runsheet.turns SET needs = 'drive' WHERE status = 'running' AND NOT parked;
  UPDATE runsheet.turns SET serves = 'drive' WHERE until > '-infinity';
  ALTER TABLE runsheet.turns DROP COLUMN parked;
  CREATE INDEX turns_claimable ON runsheet.turns (needs, until) WHERE needs IS NOT NULL;
  CREATE INDEX turns_served ON runsheet.turns (serves) WHERE serves IS NOT NULL;
`
