import type { FieldProblem } from '../domain/refusal.ts'
import type { ErrorStrings } from './error-text.ts'

/** “最多 400 个字符（当前 401）”, as far as the numbers are known. */
function atMost({ limit, got }: Pick<FieldProblem, 'limit' | 'got'>, unit: string): string | undefined {
  if (limit === undefined) return undefined
  return `最多 ${limit} ${unit}${typeof got === 'number' ? `（当前 ${got}）` : ''}`
}

export const chineseErrors: ErrorStrings = {
  byCode: {
    unreachable: () => '无法连接服务器。',
    upgrade_required: () => '服务器版本不同，请刷新页面。',
    unauthorized: () => '你尚未登录。',
    persons_only: () => '只有用户本人可以执行此操作。',
    rate_limited: () => '操作过于频繁，请稍后再试。',
    too_many_streams: () => '打开的窗口过多，请关闭一个后重试。',
    body_too_large: () => '内容过长，无法发送。',
    not_implemented: () => '此服务器没有自带模型，请通过其他智能体使用。',
    internal: () => '服务器出错，详情请查看服务器日志。',
    busy: () => '服务器繁忙，请稍后再试。',
    io: () => '服务器未能保存，请稍后再试。',
    file_invalid: ({ file }) =>
      `任务文件${file === undefined ? '' : ` ${file} `}无效，没有做任何更改。请修复或移除该文件，然后重试。`,
    full: () => '服务器磁盘空间不足。',
    readonly: () => '服务器无法写入数据目录。',
    closed: () => '服务器正在关闭，请稍后再试。',
    session_not_found: () => '找不到该会话。',
    template_not_found: () => '找不到该模板。',
    template_exists: () => '已有同名模板。',
    settings_changed: () => '设置已在别处更改，现在显示的是最新内容。',
    settings_unreadable: () => '数据目录中的设置文件无效，请删除后重新设置。',
    settings_not_saved: () => '服务器未能保存设置，没有做任何更改。',
    setting_locked: ({ by }) => `此项由${by === undefined ? '服务器' : ` ${by} `}设定，无法在此更改。`,
    batch_empty: () => '计划至少需要一个步骤。',
    batch_too_large: data => `计划步骤过多：${atMost(data, '步') ?? '请删减几步'}。`,
    too_many_open: data => `该会话未完成的任务过多：${atMost(data, '项') ?? '请先完成一些'}。`,
    two_in_progress: () => '只能有一项任务为“进行中”。',
    task_not_found: () => '该任务已不存在。',
    task_settled: () => '该任务已结束，请先重新打开。',
    status_not_allowed: ({ from, to, allowed = [] }, status) => {
      if (!from || !to) return '该任务不能改为此状态。'
      const possible = allowed.length > 0 ? `可以改为：${allowed.map(each => status[each]).join('、')}。` : ''
      return `“${status[from]}”的任务不能改为“${status[to]}”。${possible}`
    },
    outcome_required: () => '请先填写任务的结果。',
    version_mismatch: () => '该任务刚刚有改动，现在显示的是最新内容。',
    check_not_found: () => '该检查已不存在。',
    check_not_runnable: ({ because }) => (because === 'unapproved' ? '请先批准这项检查。' : '无法在此运行这项检查。'),
    no_turn: () => '请先发送一条消息，再添加任务。',
    turn_not_found: () => '找不到这一轮对话。',
    turn_running: () => '智能体仍在处理，请停止或等待完成。',
    turn_conflict: () => '该请求已发送过，但内容不同。',
    turn_finished: () => '这一轮已经结束。',
    no_own_turn: () => '该会话中没有可以接收消息的智能体，请发送一条新消息。',
    too_many_queued: data => `等待中的消息过多：${atMost(data, '条') ?? '请撤回几条'}。`,
    message_not_found: () => '该消息已不存在。',
    message_delivered: () => '智能体已收到这条消息。',
    message_withdrawn: () => '这条消息已被撤回。',
    message_changed: () => '这条消息刚刚有改动，现在显示的是最新内容。',
    approval_not_found: () => '该请求已不存在。',
    approval_already_decided: () => '该调用已有决定。',
    review_not_found: () => '找不到该审阅。',
    review_already_decided: () => '这份计划已有决定。',
    review_expired: () => '审阅已超时。',
    review_not_reopenable: ({ successor }) =>
      successor === undefined ? '此计划无法重新打开。' : '此计划已被重新打开。',
    review_without_deadline: () => '此审阅没有时限。',
    not_undoable: ({ because, by }) => {
      if (because === 'changed') return by === 'person' ? '此后有人改动了该任务。' : '此后智能体改动了该任务。'
      if (because === 'removed') return '该任务此后已被移除。'
      return because === 'too_old' ? '此后移除的任务过多，无法恢复。' : '已无法撤销。'
    },
  },
  field: {
    row: '该步骤',
    title: '标题',
    details: '详情',
    criteria: '完成标准',
    priority: '优先级',
    status: '状态',
    tags: '标签',
    outcome: '结果',
    position: '位置',
    comment: '留言',
    name: '名称',
    base_url: '接口地址',
    key: '密钥',
    assessor_model: '评审模型',
    review_timeout_ms: '审阅时限',
    message: '消息',
    text: '消息',
    model: '模型',
    q: '搜索内容',
    check: '检查',
    may_change: '“可以改动”',
  },
  check: () => '检查必须是一条可能失败的命令，不能含有管道、变量等脚本语法，路径必须在工作目录之内。',
  byRule: {
    required: field => `请填写${field}。`,
    empty: field => `${field}不能为空。`,
    too_long: (field, data) => `${field}过长：${atMost(data, '个字符') ?? '请缩短'}。`,
    too_few: (field, { limit }) => `${field}过少${limit === undefined ? '' : `：至少 ${limit} 个`}。`,
    too_many: (field, data) => `${field}过多：${atMost(data, '个') ?? '请删减'}。`,
    not_text: field => `${field}必须是文本。`,
    malformed_unicode: field => `${field}含有损坏的字符。`,
    not_a_number: field => `${field}必须是数字。`,
    not_an_integer: field => `${field}必须是整数。`,
    not_a_boolean: field => `${field}只能是“是”或“否”。`,
    not_allowed: (field, { allowed = [] }) =>
      allowed.length > 0 ? `${field}只能是：${allowed.join('、')}。` : `${field}的值不可用。`,
    not_an_array: field => `${field}必须是列表。`,
    not_an_object: field => `${field}必须是对象。`,
    unknown_key: field => `未知字段：${field}。`,
    duplicate: field => `${field}重复。`,
    out_of_range: (field, { min, max }) =>
      min === undefined || max === undefined ? `${field}超出范围。` : `${field}必须在 ${min} 到 ${max} 之间。`,
    too_large: field => `${field}过大。`,
    invalid: field => `请检查${field}。`,
  },
}
