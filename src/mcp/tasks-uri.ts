/** The URI of a conversation's task list as an MCP resource. */
export const tasksUri = (conversation: string): string => `runsheet://${conversation}/tasks`

export const isTasksUri = (uri: string): boolean => uri.startsWith('runsheet://')
