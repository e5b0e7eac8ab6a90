import type { ToolsetName } from './policy.ts'

/** The names of each toolset's tools: what a thread leaves out, because the plan shows it. */
export const OWN_TOOLS: Record<ToolsetName, readonly string[]> = {
  manage_todos: ['manage_todos', 'report_todo'],
  checklist: ['add_multiple_checklist_items', 'update_checklist_items'],
  task_manager: ['add_task', 'list_tasks', 'update_task', 'complete_task', 'delete_task'],
  turn_todos: ['create_todo', 'list_todo', 'complete_todo'],
  task_list: ['ListTasks', 'AddTask', 'CompleteTask', 'UncompleteTask', 'DeleteTask'],
  runsheet: ['plan', 'update', 'tasks'],
}
