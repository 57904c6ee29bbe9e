"""What passes find in the digits of a piece: whole blocks, rows that are dealt out, rows that are joined."""
