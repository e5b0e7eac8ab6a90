import type { ToolsetName } from '../../core/model/policy.ts'
import { checklist } from './checklist.ts'
import { manageTodos } from './manage-todos.ts'
import { runsheet } from './runsheet.ts'
import { taskList } from './task-list.ts'
import { taskManager } from './task-manager.ts'
import type { Toolset } from './toolset.ts'
import { turnTodos } from './turn-todos.ts'

/** A conversation offers its model exactly one toolset. */
export const toolsets: Record<ToolsetName, Toolset> = {
  manage_todos: manageTodos,
  checklist,
  task_manager: taskManager,
  turn_todos: turnTodos,
  task_list: taskList,
  runsheet,
}

export const toolNames: ReadonlySet<string> = new Set(
  Object.values(toolsets).flatMap(({ tools }) => tools.map(({ name }) => name)),
)
