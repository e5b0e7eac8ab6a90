import type { FilingStrings } from './filing-strings.ts'

export const chineseFiling: FilingStrings = {
  rename: '重命名',
  newTitle: '新标题',
  pin: '置顶',
  unpin: '取消置顶',
  archive: '归档',
  exportMarkdown: '导出为 Markdown',
  exportJson: '导出为 JSON Lines',
  archivedNow: title => `已归档“${title}”`,
  undo: '撤销',
  notRenamed: title => `未能重命名为“${title}”。`,
  noneArchived: '没有已归档的会话。',
  backToList: '返回全部会话',
  searching: '正在搜索…',
  noResults: query => `没有与“${query}”匹配的结果`,
  noResultsHint: '结果须包含每个词；最后一个词只需开头匹配。',
  indexing: '较早的内容仍在建立索引，可能还有更多结果。',
  kinds: { conversation: '会话', task: '任务', message: '消息' },
}
