"""What tasks read besides running text: labeled texts, folders of classes, images, recordings, pairs, music."""
