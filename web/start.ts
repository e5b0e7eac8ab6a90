import { createClient, type ReviewRequest, RunsheetError } from '../src/client/index.ts'

/** What the printed link opens: it signs in, and shows the plans that wait for a decision. */

const TOKEN = 'runsheet.token'
const LOOK_EVERY_MS = 2_000
const SIGN_IN =
  'Not signed in. Where the server runs: “npm run -s runsheet -- url” (installed: “npx runsheet url”), and open the link.'

const state = element('#state')
const reviews = element('#reviews')

await signIn()
await show()
setInterval(() => void show(), LOOK_EVERY_MS)

/** Trades the code for a token, and leaves neither in the address. */
async function signIn(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  history.replaceState(null, '', location.pathname)
  if (code === null) return
  try {
    localStorage.setItem(TOKEN, (await createClient({ url: location.origin }).login(code)).token)
  } catch (error) {
    state.textContent = (error as Error).message
  }
}

async function show(): Promise<void> {
  const client = signedIn()
  if (!client) {
    state.textContent = SIGN_IN
    return
  }
  try {
    const { reviews: waiting } = await client.pendingReviews()
    state.textContent =
      waiting.length === 0 ? 'Signed in. No plan waits for you.' : `${waiting.length} waiting for your decision`
    const ids = waiting.map(({ review_id }) => review_id).join()
    if (reviews.dataset['ids'] === ids) return
    reviews.dataset['ids'] = ids
    reviews.replaceChildren(...waiting.map(card))
  } catch (error) {
    state.textContent = error instanceof RunsheetError && error.status === 401 ? SIGN_IN : (error as Error).message
  }
}

function card(review: ReviewRequest): HTMLElement {
  const rows = made('ol')
  rows.append(...review.draft_tasks.map(({ title }) => made('li', title)))
  const confirm = {
    action: 'confirm',
    tasks: review.draft_tasks.map((_, draft_index) => ({ draft_index })),
  } as const
  const article = made('article')
  article.append(
    made('h2', `${review.session_id} · ${review.conversation_turn_id}`),
    rows,
    button('Confirm', () => signedIn()?.decide(review.review_id, confirm)),
    button('Cancel', () => signedIn()?.decide(review.review_id, { action: 'cancel' })),
  )
  return article
}

function button(label: string, act: () => Promise<unknown> | undefined): HTMLElement {
  const one = made('button', label)
  one.addEventListener('click', () => {
    void (async () => {
      await act()?.catch((error: Error) => {
        state.textContent = error.message
      })
      await show()
    })()
  })
  return one
}

function signedIn(): ReturnType<typeof createClient> | undefined {
  const token = localStorage.getItem(TOKEN)
  return token === null ? undefined : createClient({ url: location.origin, token })
}

function made(tag: string, text = ''): HTMLElement {
  return Object.assign(document.createElement(tag), { textContent: text })
}

function element(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector)
  if (!found) throw new Error(`there is no ${selector}`)
  return found
}
