import { answerOpener } from './oauth-channel.ts';

answerOpener(new URLSearchParams(location.search));
