// Small lazy parts in one file: separately, each would cost a request.
export { CallOffer } from '../chat/call-offer.tsx'
export { Calls } from '../chat/calls.tsx'
export { ReviewsPage } from '../lists/reviews-page.tsx'
export { SignIn } from './sign-in.tsx'
export { ToolsetChoice } from '../settings/toolset-choice.tsx'
