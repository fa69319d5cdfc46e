import { respondToOpener } from './oauth-channel.ts';

respondToOpener(new URLSearchParams(location.search));
