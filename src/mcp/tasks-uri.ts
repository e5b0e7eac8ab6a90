export const tasksUri = (conversation: string): string => `runsheet://${conversation}/tasks`

export const isTasksUri = (uri: string): boolean => uri.startsWith('runsheet://')
