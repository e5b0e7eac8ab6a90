import type { CommandStrings } from './command-strings.ts'

export const chineseCommands: CommandStrings = {
  palette: '命令与搜索',
  placeholder: '输入命令，或搜索会话、消息和任务…',
  actions: '操作',
  recent: '最近的会话',
  results: '搜索结果',
  nothing: '没有找到',
  kinds: { conversation: '会话', task: '任务', message: '消息' },
  count: results => `${results} 个结果`,
  labels: {
    new_chat: '新建会话',
    search: '在列表中搜索',
    reviews: '等待你审阅的计划',
    history: '此会话的历史记录',
    plan_beside: '在会话旁显示计划',
    rename: '重命名会话',
    pin: '置顶会话',
    unpin: '取消置顶',
    archive: '归档会话',
    restore: '恢复会话',
    export_markdown: '导出为 Markdown',
    export_json: '导出为 JSON Lines',
    archived: '已归档的会话',
    settings: '设置',
    tools: '智能体的工具',
    theme: '切换浅色与深色',
    language: '切换到英文（English）',
    keyboard_help: '键盘快捷键',
  },
  help: '键盘快捷键',
  shortcuts: [
    {
      where: '全局',
      keys: [
        ['命令与搜索', 'Mod+K'],
        ['键盘快捷键', '?'],
        ['关闭当前窗口', 'Esc'],
      ],
    },
    {
      where: '输入框',
      keys: [
        ['发送；等待审阅时要求修改', 'Enter'],
        ['换行', 'Shift+Enter'],
      ],
    },
    {
      where: '审阅',
      keys: [
        ['下一步；在最后一步后新建', 'Enter'],
        ['删除空步骤', 'Backspace'],
        ['移动步骤', 'Alt+↑', 'Alt+↓'],
        ['离开输入框；再按一次拒绝计划', 'Esc'],
        ['撤销', 'Mod+Z'],
        ['重做', 'Mod+Shift+Z', 'Mod+Y'],
      ],
    },
    {
      where: '计划',
      keys: [
        ['移动步骤', 'Alt+↑', 'Alt+↓'],
        ['保存新标题', 'Enter'],
        ['保留原标题', 'Esc'],
        ['撤销', 'Mod+Z'],
        ['重做', 'Mod+Shift+Z', 'Mod+Y'],
      ],
    },
    {
      where: '菜单与列表',
      keys: [
        ['下一项、上一项', '↓', '↑'],
        ['第一项、最后一项（菜单）', 'Home', 'End'],
        ['选择', 'Enter'],
      ],
    },
  ],
}
