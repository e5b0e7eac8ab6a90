/** Drops indexes that no query uses: each change of a task's status had to write to them. */
export const fewerIndexes = `
  DROP INDEX runsheet.tasks_conversation_created;
  DROP INDEX runsheet.tasks_turn_created;
  DROP INDEX runsheet.tasks_turn_status;
`
