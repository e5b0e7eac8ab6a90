/** No query uses these, and they made every change of a task's status write to an index. */
export const fewerIndexes = `
  DROP INDEX runsheet.tasks_conversation_created;
  DROP INDEX runsheet.tasks_turn_created;
  DROP INDEX runsheet.tasks_turn_status;
`
