// Pages that only show pictures: those that changed since somebody judged by them say so.
import {watchPictures} from './judging-changed.js';

watchPictures(document.getElementById('main'));
