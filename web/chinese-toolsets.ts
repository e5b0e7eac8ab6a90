import type { ToolsetStrings } from './toolset-strings.ts'

export const chineseToolsets: ToolsetStrings = {
  heading: '智能体如何制定计划',
  of: {
    runsheet: ['审阅后执行', '一份计划，每一步都有结果。'],
    task_manager: ['任务管理', '带有详情、优先级和标签的任务。'],
    manage_todos: ['待办清单', '针对一个请求的简短清单。'],
    turn_todos: ['带结果的步骤', '针对一个请求的步骤，每一步都以结果收尾。'],
    checklist: ['检查表', '逐项勾选，在整个会话中保留。'],
    task_list: [
      '任务列表',
      '逐个添加的任务，在整个会话中保留。使用 --store file 时，每个列表是数据文件夹中的一个 JSON 文件（.agents/tasks/<id>.json）；其他存储方式不写文件。',
    ],
  },
  unreviewed: '计划',
  approve: '执行之前由你批准计划。',
  deadline: span => `你有${span}时间决定，超时则不会开始任何工作。`,
  startsAtOnce: '智能体立即开始。',
  judged: '评判模型检查每个结果。',
  goesOn: '智能体会一直做到每一步都有结论。',
  space: '',
  review: '审阅',
  assessor: '评判',
  gate: '持续执行',
  noReview: '不审阅',
  noReviewWhy: '：智能体不经询问就会开始',
}
