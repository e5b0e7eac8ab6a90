/** A file of the page, by its path; none is undefined. */
export type Page = (path: string) => { readonly content: string; readonly type: string } | undefined

/** What the printed URL shows: it trades the code in its fragment for a token, and says what there is to do. */
export const startPage: Page = path => FILES[path]

const FILES: Readonly<Record<string, { content: string; type: string }>> = {
  '/': {
    type: 'text/html; charset=utf-8',
    content: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runsheet</title>
<link rel="stylesheet" href="/start.css">
<main>
<h1>Runsheet</h1>
<p id="state" role="status">Signing in …</p>
<section id="reviews" aria-live="polite"></section>
</main>
<script type="module" src="/start.js"></script>
</html>
`,
  },
  '/start.css': {
    type: 'text/css; charset=utf-8',
    content: `:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem }
article { border: 1px solid; border-radius: .5rem; margin: 1rem 0; padding: 0 1rem 1rem }
button { font: inherit; margin-right: .5rem; padding: .25rem .75rem }
`,
  },
  '/start.js': {
    type: 'text/javascript; charset=utf-8',
    content: `const state = document.querySelector('#state')
const reviews = document.querySelector('#reviews')
const code = new URLSearchParams(location.hash.slice(1)).get('code')
history.replaceState(null, '', location.pathname)

const ask = async (method, path, body) => {
  const token = localStorage.getItem('runsheet.token')
  const headers = { ...(body ? { 'content-type': 'application/json' } : {}), ...(token ? { authorization: 'Bearer ' + token } : {}) }
  const response = await fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  const answer = response.status === 204 ? {} : await response.json()
  if (!response.ok) throw Object.assign(new Error(answer.error.message), { status: response.status })
  return answer
}

const show = async () => {
  try {
    const waiting = (await ask('GET', '/api/task-manager/reviews/pending')).reviews
    state.textContent = waiting.length === 0 ? 'Signed in. No plan waits for you.' : waiting.length + ' waiting for your decision:'
    reviews.replaceChildren(...waiting.map(card))
  } catch (error) {
    reviews.replaceChildren()
    state.textContent = error.status === 401 ? 'Not signed in. Run "runsheet url" and open the link that it prints.' : error.message
  }
}

const card = review => {
  const article = document.createElement('article')
  const heading = document.createElement('h2')
  heading.textContent = review.session_id + ' · ' + review.conversation_turn_id
  const rows = document.createElement('ol')
  rows.append(...review.draft_tasks.map(task => Object.assign(document.createElement('li'), { textContent: task.title })))
  const decide = (label, decision) => {
    const button = Object.assign(document.createElement('button'), { textContent: label })
    button.onclick = () =>
      ask('POST', '/api/task-manager/reviews/' + review.review_id + '/decision', decision)
        .catch(error => alert(error.message))
        .then(show)
    return button
  }
  const confirm = { action: 'confirm', tasks: review.draft_tasks.map((_, draft_index) => ({ draft_index })) }
  article.append(heading, rows, decide('Confirm', confirm), decide('Cancel', { action: 'cancel' }))
  return article
}

if (code) {
  try {
    localStorage.setItem('runsheet.token', (await ask('POST', '/api/login', { code })).token)
  } catch (error) {
    if (!localStorage.getItem('runsheet.token')) state.textContent = error.message
  }
}
if (localStorage.getItem('runsheet.token')) {
  await show()
  setInterval(show, 2000)
} else if (!code) state.textContent = 'Not signed in. Run "runsheet url" and open the link that it prints.'
`,
  },
}
