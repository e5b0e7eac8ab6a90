// Small lazy parts in one file: separately, each would cost a request.
export { CallOffer } from './call-offer.tsx'
export { Calls } from './calls.tsx'
export { ReviewsPage } from './reviews-page.tsx'
export { SignIn } from './sign-in.tsx'
export { ToolsetChoice } from './toolset-choice.tsx'
